"""Which line means what, told by the lines themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.trouble import find_trouble, trouble_kinds

LINES: list[tuple[str, str, dict[str, str]]] = [
    (
        "kv_pool_full",
        "KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_token_ratio: 0.0980 -> 0.7070",
        {"retracted": "3", "ratio_before": "0.0980", "ratio_after": "0.7070"},
    ),
    (
        "kv_pool_full",
        "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_tokens_gained: 512, "
        "#new_token_ratio: 0.1 -> 0.2",
        {"retracted": "1", "gained_tokens": "512", "ratio_before": "0.1", "ratio_after": "0.2"},
    ),
    ("retract_failed", "AssertionError: Failed to retract any request. No space left for only one request.", {}),
    ("not_enough_memory", "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", {}),
    (
        "capture_failed",
        "Exception: Capture cuda graph failed: CUDA error",
        {"what": "cuda graph", "message": "CUDA error"},
    ),
    (
        "cuda_oom",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
        "79.10 GiB of which 1.20 GiB is free.",
        {"tried": "2.00 GiB", "gpu": "3", "total": "79.10 GiB", "free": "1.20 GiB"},
    ),
    (
        "scheduler_exception",
        "Scheduler hit an exception: Traceback (most recent call last):",
        {"process": "Scheduler", "reason": "Traceback (most recent call last):"},
    ),
    ("child_died", "Received sigquit from a child process. It usually means the child failed.", {}),
    (
        "child_died",
        "Subprocess scheduler_0 (pid=77) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
        {"process": "scheduler_0", "pid": "77", "exit_code": "-9"},
    ),
    ("watchdog_timeout", "Watchdog timeout (self.watchdog_timeout=300)", {"timeout_s": "300"}),
    (
        "watchdog_timeout",
        "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)",
        {"process": "Scheduler", "timeout_s": "300"},
    ),
    (
        "soft_watchdog",
        "Scheduler watchdog timeout (self.watchdog_timeout=60, self.soft=True)",
        {"process": "Scheduler", "timeout_s": "60"},
    ),
    (
        "nccl_timeout",
        "[rank3]:[E1129 10:00:00 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=12, OpType=SEND, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600012 milliseconds",
        {"rank": "3", "sequence": "12", "operation": "SEND", "timeout_ms": "600000"},
    ),
    ("nccl_error", "torch.distributed.DistBackendError: NCCL error in: x.cpp:3, remote process exited", {}),
    ("nccl_error", "ncclSystemError: System call failed", {"code": "ncclSystemError"}),
    (
        "unbalanced_memory",
        "The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
        "pre_model_load_memory=40.5, local_gpu_memory=78.2, local_gpu_memory * 0.9=70.38",
        {"least_gib": "40.5", "local_gib": "78.2"},
    ),
    (
        "custom_allreduce_disabled",
        "Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this "
        "warning, specify disable_custom_all_reduce=True explicitly.",
        {"what": "Custom allreduce", "reason": "it's not supported on more than two PCIe-only GPUs"},
    ),
    (
        "custom_allreduce_disabled",
        "CustomAllReduceV2 is disabled due to an unsupported world size: 3. Supported world sizes: [2, 4]. To silence",
        {"what": "CustomAllReduceV2"},
    ),
    (
        "graph_disabled",
        "Cuda graph is disabled because of using torch native attention backend",
        {"reason": "because of using torch native attention backend"},
    ),
    ("prefill_graph_disabled", "Disable piecewise CUDA graph because piecewise_cuda_graph does not support PP", {}),
    ("prefill_graph_disabled", "Piecewise cuda graph is disabled for MoE runner backend 'x'", {}),
    (
        "cap_reduced",
        "max_running_requests was reduced from the requested 512 to 96 (per dp worker) due to the available KV cache.",
        {"from": "512", "to": "96"},
    ),
    ("cap_reduced", "max_running_requests was reduced from requested 128 to 50", {"from": "128", "to": "50"}),
    (
        "cap_reduced",
        "max_running_requests is capped to 40 by the mamba state cache (max_mamba_cache_size=80)",
        {"to": "40"},
    ),
    ("slow_tokenizer", "Using a slow tokenizer. This might cause a significant slowdown.", {}),
    (
        "moe_default_config",
        "Using default MoE kernel config. Performance might be sub-optimal! "
        "Config file not found at /x/E=128.json, you",
        {"what": "MoE", "file": "/x/E=128.json"},
    ),
    ("pp_model_unsupported", "AssertionError: Pipeline Parallel is not compatible with this model.", {}),
    (
        "pp_flag_conflict",
        "AssertionError: Pipeline parallelism is not compatible with overlap schedule, speculative decoding",
        {"features": "overlap schedule, speculative decoding"},
    ),
    (
        "flag_unrecognized",
        "launch_server.py: error: unrecognized arguments: --max-micro-batch-size 4",
        {"arguments": "--max-micro-batch-size 4"},
    ),
    (
        "flag_ambiguous",
        "launch_server.py: error: ambiguous option: --pp could match --pp-size, --pp-async-batch-depth",
        {"option": "--pp", "candidates": "--pp-size, --pp-async-batch-depth"},
    ),
    (
        "flag_invalid_choice",
        "launch_server.py: error: argument --attention-backend: invalid choice: 'fa9' (choose from 'fa3', 'triton')",
        {"argument": "--attention-backend", "value": "'fa9'", "choices": "'fa3', 'triton'"},
    ),
    (
        "flag_expected_argument",
        "launch_server.py: error: argument --pp-size/--pipeline-parallel-size: expected one argument",
        {"argument": "--pp-size/--pipeline-parallel-size", "expected": "one"},
    ),
    (
        "flag_invalid_value",
        "x: error: argument --pp-size: invalid int value: 'x'",
        {"argument": "--pp-size", "reason": "invalid int value: 'x'"},
    ),
    ("flag_required", "x: error: the following arguments are required: --model-path/--model", {}),
    ("assertion", "AssertionError: pp_size must divide", {"message": "pp_size must divide"}),
    ("assertion", "AssertionError", {}),
    ("value_error", "ValueError: something new", {"message": "something new"}),
    ("runtime_error", "[rank0]: RuntimeError: something new", {"message": "something new"}),
    ("exception", "zmq.error.ZMQBaseError: busy", {"type": "zmq.error.ZMQBaseError", "message": "busy"}),
    ("peer_access_failed", "RuntimeError: CUDART error: peer access is not supported between these two devices", {}),
    ("p2p_disabled", "box:1:1 [0] NCCL INFO P2P is disabled between connected GPUs 0 and 1. You can", {}),
    ("p2p_disabled", "box:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1", {}),
    ("nccl_socket_transport", "box:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0", {}),
    ("nccl_shm_transport", "box:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", {}),
    (
        "nccl_init_complete",
        "box:1:1 [2] NCCL INFO ncclCommInitRank comm 0x1 rank 2 nranks 8 cudaDev 2 nvmlDev 2 busId 41000 commId 0x9 - "
        "Init COMPLETE",
        {"rank": "2", "ranks": "8", "bus_id": "41000"},
    ),
    (
        "xid",
        "[12.3] NVRM: Xid (PCI:0000:41:00): 79, pid=1, GPU has fallen off the bus.",
        {"device": "PCI:0000:41:00", "code": "79"},
    ),
    ("layer_partition_error", "ValueError: len(partitions)=7 does not match pp_size=8.", {"got": "7", "wanted": "8"}),
    (
        "layer_partition_error",
        "ValueError: sum(partitions)=60 does not match num_hidden_layers=61.",
        {"got": "60", "of": "num_hidden_layers", "wanted": "61"},
    ),
    ("overlap_disabled_pp", "Pipeline parallelism is incompatible with overlap schedule.", {}),
    (
        "set_internal_refused",
        "Updating pp_max_micro_batch_size to 999 is rejected because it is out of the valid range [1, 256].",
        {"key": "pp_max_micro_batch_size", "value": "999", "maximum": "256"},
    ),
    ("set_internal_refused", "Updating stream_interval is not supported.", {"key": "stream_interval"}),
    (
        "set_internal_ok",
        "Config updated via context override: {'pp_max_micro_batch_size': 4}",
        {"slot_limit": "4"},
    ),
    (
        "set_internal_ok",
        "Global server args updated! get_global_server_args()=ServerArgs(a=1, pp_max_micro_batch_size=2, b=3)",
        {"slot_limit": "2"},
    ),
    (
        "dynamic_chunk",
        "[PP Dynamic Chunk] [PP3] Predictor ready (quadratic). Target latency: 91.20ms",
        {"stage": "3", "latency_ms": "91.20"},
    ),
    (
        "dynamic_chunk_failed",
        "[PP Dynamic Chunk] Failed to fit the chunk-size predictor: ValueError('x'). Dynamic chunking will be off.",
        {"step": "fit", "reason": "ValueError('x')"},
    ),
    ("spec_cap", "Max running requests is reset to 48 for speculative decoding. You can override", {"limit": "48"}),
    ("draft_loaded", "Using draft model load_format: 'auto'", {"load_format": "auto"}),
    (
        "draft_loaded",
        "Load weight end. elapsed=1.00 s, type=DeepseekV3ForCausalLMNextN, avail mem=1.00 GB, mem usage=1.00 GB.",
        {"model": "DeepseekV3ForCausalLMNextN"},
    ),
    ("grammar_timeout", "Grammar preprocessing timed out: req.grammar_key=('json', 'x')", {}),
    ("grammar_failed", "Grammar accept_token failed for req 1 with token 2: x", {}),
    ("kv_transfer_failed", "Decode transfer failed for request rank=0 req.rid='1'", {"side": "Decode"}),
    (
        "kv_transfer_failed",
        "Request 12 timed out after 300.1s in KVPoll.WaitingForInput",
        {"waited_s": "300.1", "stage": "WaitingForInput"},
    ),
    ("kv_transfer_setup", "Time to init xfer: 1.82 s", {"time": "1.82"}),
    ("kv_transfer_setup", "NIXL KVManager initialized with backend: UCX", {"backend": "UCX"}),
    ("kv_transfer_setup", "[1.2] UCX  WARN  no RDMA device", {"level": "WARN", "ucx": "no RDMA device"}),
    ("numa_bind", "init_threads_binding: numa_index=2, world_size=8, local_omp_cpuid=0", {"node": "2"}),
    ("numa_bind_failed", "numa not available on this system, skip bind action", {}),
    ("hicache", "Allocating 128.00 GB host memory for hierarchical KV cache.", {"size_gb": "128.00"}),
    ("cpu_offload", "[offloader] offload module_index=3 submodule=<class 'X'>", {}),
    ("prefix_cache_disabled", "Radix cache is disabled because --enable-mis is set.", {}),
    (
        "prefix_cache_disabled",
        "Tree cache initialized: source=default impl=ChunkCache hybrid_swa=False",
        {"impl": "ChunkCache"},
    ),
    (
        "attention_backend_fallback",
        "FlashAttention3 only supports fp8_e4m3 if using FP8; Setting attention backend to triton.",
        {"set": "triton"},
    ),
    (
        "attention_backend_fallback",
        "The current platform does not support Intel AMX, will fallback to torch_native backend.",
        {"fallback": "torch_native"},
    ),
    (
        "attention_backend_choice",
        "Attention backend not explicitly specified. Use fa3 backend by default.",
        {"backend": "fa3"},
    ),
    ("model_import_ignored", "Ignore import error when loading sglang.srt.models.grok: no module", {}),
    ("health_check_failed", "Health check failed. Server couldn't get a response from detokenizer for last 20s", {}),
    (
        "flag_deprecated",
        "--cuda-graph-max-bs is deprecated, use --cuda-graph-max-bs-decode",
        {"flag": "--cuda-graph-max-bs"},
    ),
    ("nan_logits", "Detected errors during sampling! NaN in the logits.", {}),
    ("cuda_error", "CUDA error: an illegal memory access was encountered", {}),
    ("memory_leak", "ValueError: token_to_kv_pool_allocator memory leak detected! x", {}),
]


@pytest.mark.parametrize(("kind", "message", "fields"), LINES)
def test_a_line_is_known_for_what_it_is(kind: str, message: str, fields: dict[str, str]) -> None:
    found = find_trouble(message)
    assert found is not None
    assert found.kind.id == kind
    assert fields.items() <= found.fields.items()


@pytest.mark.parametrize(
    "message",
    [
        "Decode batch, #running-req: 6, #token: 737",
        "Tree cache initialized: source=default impl=UnifiedRadixCache hybrid_swa=False hicache_attached=False",
        "Using default HuggingFace chat template with detected content format: string",
        "init_cpu_threads_env and shared memory based AllReduce is disabled, only intel amx backend and arm64",
        "Load weight end. elapsed=0.01 s, type=LlamaForCausalLM, avail mem=18.40 GB, mem usage=0.00 GB.",
        "Testing retraction. #retracted_reqs: 1",
        "",
    ],
)
def test_ordinary_lines_mean_nothing(message: str) -> None:
    assert find_trouble(message) is None


def test_every_kind_is_well_formed_and_told_apart() -> None:
    kinds = trouble_kinds()
    assert len({kind.id for kind in kinds}) == len(kinds)
    assert all(kind.marks and all(kind.marks) and kind.note.endswith(".") for kind in kinds)
    assert all(kind.severity == "info" for kind in kinds if kind.harmless)


def test_what_every_pipeline_server_says_is_harmless() -> None:
    harmless = {kind.id for kind in trouble_kinds() if kind.harmless}
    assert {"overlap_disabled_pp", "model_import_ignored", "prefill_graph_disabled", "rlimit"} <= harmless
    assert "graph_disabled" not in harmless


@given(st.text(max_size=300))
def test_no_message_makes_the_search_fail(message: str) -> None:
    find_trouble(message)
