"""Kinds of remark and trouble while a server starts: flags, graphs, caps, backends, caches."""

from ppagent.sglang.logs.trouble import TroubleKind

LAUNCH_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="not_enough_memory",
        severity="fatal",
        marks=(
            b"Not enough memory. Please",
            b"Not enough GPU memory for hybrid",
            b"state cache is too small to serve",
            b"is larger than the profiled value -",
        ),
        pattern=r"Not enough (?:GPU )?memory(?:.*?mem_fraction_static=(?P<fraction>\d*\.?\d+))?"
        r"|state cache is too small to serve|profiled value (?P<profiled_tokens>-\d+)",
        note="Weights leave no room for a KV pool at this --mem-fraction-static.",
    ),
    TroubleKind(
        id="unbalanced_memory",
        severity="error",
        marks=(b"The memory capacity is unbalanced",),
        pattern=r"(?:^(?P<raised>\w+Error): The memory )?capacity is unbalanced"
        r"(?:.*?(?:min_per_gpu_memory|pre_model_load_memory)=(?P<least_gib>[\d.]+))?"
        r"(?:.*?local_gpu_memory=(?P<local_gib>[\d.]+))?",
        note="One GPU has much less free memory than another: another process sits on it.",
    ),
    TroubleKind(
        id="prefill_graph_disabled",
        severity="info",
        marks=(
            b"refill CUDA graph because",
            b"refill CUDA graph capture because",
            b"iecewise CUDA graph because",
            b"iecewise CUDA graph due",
            b"refill CUDA graph for",
            b"isabling prefill CUDA graph",
            b"isabling prefill cuda graph",
            b"Piecewise cuda graph is disabled",
        ),
        pattern=r"(?:because|due to|disabled for) (?P<reason>.*)|isabling prefill",
        note="No graph for prefill. Normal under pipeline parallelism, and prefill is bound by compute.",
        harmless=True,
    ),
    TroubleKind(
        id="graph_disabled",
        severity="warning",
        marks=(b"uda graph is disabled", b"UDA graph is disabled", b"uda graph and server warmup are disabled"),
        pattern=r"(?i)cuda graph (?:and server warmup )?(?:is|are) disabled (?P<reason>.*)",
        note="Decode runs eagerly: every kernel is launched by the CPU.",
    ),
    TroubleKind(
        id="cap_reduced",
        severity="warning",
        marks=(b"max_running_requests was reduced", b"max_running_requests is capped"),
        pattern=r"max_running_requests (?:was reduced from (?:the )?requested (?P<from>\d+) to|is capped to) "
        r"(?P<to>\d+)",
        note="Fewer requests run at once than was asked for: KV or state cache does not hold them (0.5.14+).",
    ),
    TroubleKind(
        id="spec_cap",
        severity="info",
        marks=(b"Max running requests is reset to",),
        pattern=r"Max running requests is reset to (?P<limit>\d+) for speculative decoding",
        note="Speculation caps running requests unless --max-running-requests is given (silent up to 0.5.3).",
    ),
    TroubleKind(
        id="draft_loaded",
        severity="info",
        marks=(b"draft model load_format", b"Load weight end.", b"draft attention backend"),
        pattern=r"draft model load_format: '?(?P<load_format>\w+)"
        r"|Overriding draft attention backend to (?P<backend>\w+)"
        r"|Load weight end\..*type=(?P<model>\w*(?:NextN|Eagle|EAGLE|MTP|Draft|DFlash|Mtp)\w*)",
        note="A draft model is loaded besides the target: its weights and pool take memory too.",
    ),
    TroubleKind(
        id="overlap_disabled_pp",
        severity="info",
        marks=(b"Pipeline parallelism is incompatible with overlap schedule",),
        pattern=r"incompatible with overlap schedule",
        note="Every pipeline-parallel server says it: its loop overlaps stages instead.",
        harmless=True,
    ),
    TroubleKind(
        id="dynamic_chunk_failed",
        severity="warning",
        marks=(b"[PP Dynamic Chunk] Failed",),
        pattern=r"Failed to (?P<step>profile|fit)[^:]*: (?P<reason>.*?)\. Dynamic chunking",
        note="Dynamic chunking was asked for and is off.",
    ),
    TroubleKind(
        id="dynamic_chunk",
        severity="info",
        marks=(b"[PP Dynamic Chunk]",),
        pattern=r"(?:\[PP(?P<stage>\d+)\] )?(?:Predictor ready.*latency: (?P<latency_ms>[\d.]+)ms"
        r"|Predicted chunk size: (?P<chunk_tokens>\d+)|Profiled (?P<samples>\d+))",
        note="Dynamic chunking shrinks later chunks of long prompts to keep stages even.",
        harmless=True,
    ),
    TroubleKind(
        id="slow_tokenizer",
        severity="warning",
        marks=(b"Using a slow tokenizer",),
        pattern=r"Using a slow tokenizer",
        note="The tokenizer runs in Python: it limits the front end at high request rates.",
    ),
    TroubleKind(
        id="moe_default_config",
        severity="warning",
        marks=(b"MoE kernel config", b"Block FP8 kernel config"),
        pattern=r"Using default (?P<what>MoE|W8A8 Block \w+) kernel config"
        r"(?:.*?Config file not found at (?P<file>[^,\s]+))?"
        r"|Fallback to triton version (?P<triton>[\d.]+)",
        note="No tuned kernel configuration for this GPU and shape; kernels may be far from their best.",
    ),
    TroubleKind(
        id="attention_backend_fallback",
        severity="warning",
        marks=(b"attention backend to", b"will fallback to", b"Falling back to '", b"ttention backend is "),
        pattern=r"Setting attention backend to (?P<set>\w+)|will fallback to (?P<fallback>\w+) backend"
        r"|Falling back to '(?P<default>\w+)'|ttention backend is (?:set to|overridden to) '?(?P<forced>\w+)",
        note="Another attention backend than the requested or usual one runs.",
    ),
    TroubleKind(
        id="attention_backend_choice",
        severity="info",
        marks=(b"backend by default", b"as attention backend", b"hybrid attention backend", b"MLA optimization is"),
        pattern=r"Use (?P<backend>\w+) backend|Us(?:e|ing) (?P<named>\w+) as attention backend"
        r"|decode_backend=(?P<decode>\w+), prefill_backend=(?P<prefill>\w+)",
        note="Which attention backend was chosen, and that it was not asked for.",
        harmless=True,
    ),
    TroubleKind(
        id="prefix_cache_disabled",
        severity="warning",
        marks=(
            b"adix cache is disabled",
            b"isabling radix cache",
            b"isabling Radix Cache",
            b"isable radix cache",
            b"adix cache are disabled",
            b"impl=ChunkCache",
            b"impl=SWAChunkCache",
        ),
        pattern=r"[Rr]adix [Cc]ache (?:is|are) disabled(?P<reason>.*)|isabl(?:ing|e) [Rr]adix [Cc]ache(?P<why>.*)"
        r"|impl=(?P<impl>\w*ChunkCache)",
        note="No prefix is kept between requests: shared prompts are computed again.",
    ),
    TroubleKind(
        id="chunk_cache_pd",
        severity="info",
        marks=(b"forced as chunk cache for decode server", b"Disable chunked prefix cache"),
        pattern=r"forced as chunk cache|Disable chunked prefix cache",
        note="A decode server of a prefill/decode pair keeps no prefixes by default; or an MLA detail of page sizes.",
        harmless=True,
    ),
    TroubleKind(
        id="hicache",
        severity="info",
        marks=(b"host memory for hierarchical", b"Not enough host memory available", b"HiCache"),
        pattern=r"Allocating (?P<size_gb>[\d.]+) GB host memory|(?P<short>Not enough host memory available)|HiCache",
        note="KV is also kept in host memory; PCIe carries it.",
    ),
    TroubleKind(
        id="cpu_offload",
        severity="info",
        marks=(b"[offloader]",),
        pattern=r"\[offloader\]",
        note="Weights live in host memory and cross PCIe in every step.",
    ),
    TroubleKind(
        id="numa_bind_failed",
        severity="warning",
        marks=(b"numa not available", b"skipping NUMA", b"numactl could not", b"numactl rejected"),
        pattern=r"numa not available|skipping NUMA|numactl (?:could not|rejected)",
        note="Processes are not bound to the CPUs near their GPU.",
    ),
    TroubleKind(
        id="numa_bind",
        severity="info",
        marks=(b"NUMA node", b"numa node", b"numa_index="),
        pattern=r"(?:Bound to NUMA node|numa_index=) ?(?P<node>\d+)|NUMA nodes? found|numa node",
        note="How processes are bound to CPUs.",
        harmless=True,
    ),
    TroubleKind(
        id="model_import_ignored",
        severity="info",
        marks=(b"Ignore import error when loading",),
        pattern=r"Ignore import error when loading (?P<module>\S+?):",
        note="A model file that this server does not use could not be imported.",
        harmless=True,
    ),
    TroubleKind(
        id="rlimit",
        severity="info",
        marks=(b"Fail to set RLIMIT",),
        pattern=r"Fail to set RLIMIT_(?P<limit>\w+)",
        note="The limit of open files could not be raised; it matters for thousands of connections only.",
        harmless=True,
    ),
)
