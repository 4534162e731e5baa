"""KR003 slow quantised path

What it is
    The format of the weights or of the KV cache takes a kernel that is slow on this card, so that fewer bits run slower
    than more would.

Why it matters
    Measured on RTX PRO 6000 cards: FP8 KV on an INT4 checkpoint with MLA 16 tok/s, BF16 KV 73 to 90; FP8 block weights
    2,011 input tok/s on the default kernel, 4,121 on CUTLASS.

Signals
    A combination out of that table (FP8 KV with INT4 weights and MLA; FP8 block weights up to 0.5.15, both on SM120),
    together with a step far above what memory bandwidth allows, or an A/B.

What refutes it
    Weights and KV both in 16 bits. A step near what the memory allows.

Remedies
    KV in BF16 (twice the memory per token); CUTLASS for FP8 block weights (a variable up to 0.5.6.post1, a flag later).
"""

from ppagent.causes.cards import generation, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.flag_history import installed_catalogue
from ppagent.causes.kernel_gap import bandwidth_gap, measured_gain, measured_remedy
from ppagent.causes.sighting import switched_on, version
from ppagent.causes.situation import Known, arguments_known
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

FAR = 12.0
NEAR = 4.0
CUTLASS_VARIABLE = "SGLANG_SUPPORT_CUTLASS_BLOCK_FP8"
KV_FORMAT, GEMM_BACKEND = "--kv-cache-dtype", "--fp8-gemm-backend"
_LEVERS = ("kv-cache-dtype", CUTLASS_VARIABLE, "fp8-gemm-backend", "quantization")


class SlowQuantisedPath:
    id = "KR003"
    name = "slow quantised path"
    prior = 0.03
    wants = (
        "args.kv_cache_dtype",
        "args.fp8_gemm_runner_backend",
        "model.quantization_config",
        "gpu.names",
        "bench.levels",
        "decode.graph_true_share",
        "trial.comparisons",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        if (plain := _plain(facts)) is not None:
            return (plain,)
        found = (_table(facts), _gap(facts), _measured(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts) or _plain(facts) is not None or _any_gain(facts) is not None:
            return ()
        if not facts.number("model.num_hidden_layers"):
            return (Probe("server.model", "how the checkpoint is quantised is not known", 0),)
        if generation(facts) is None:
            return (Probe("gpu.samples", "which kernels are slow depends on the card", 2),)
        if slow_kv(facts) is None and slow_weights(facts) is None:
            return ()
        if bandwidth_gap(facts) is None:
            return (
                Probe("bench.results", "a step's time at one request shows whether it is near the memory's limit", 0),
            )
        return (Probe("tune.try", "an A/B with the other format shows what it costs", 5),)

    def advise(self, facts: Facts) -> Advice:
        remedies = []
        if (kv := slow_kv(facts)) is not None:
            remedies.append(_wide_kv(facts, kv.cites))
        if (weights := slow_weights(facts)) is not None:
            remedies.append(_cutlass(facts, weights.cites))
        known = tuple(remedies) or measured_remedy(self.id, facts, *_LEVERS) or (_by_hand(facts),)
        return Advice(known, (_declined(facts),))


def _kv_is_fp8(facts: Facts) -> bool:
    return (facts.arg_text("kv_cache_dtype") or "").lower().startswith("fp8")


def _method(facts: Facts) -> str:
    """How the checkpoint is quantised, in words: "int4", "fp8 block", "fp8", another method, or empty."""
    config = facts.table("model.quantization_config")
    method = str(config.get("quant_method") or facts.arg_text("quantization") or "").lower()
    if method == "fp8":
        return "fp8 block" if config.get("weight_block_size") else "fp8"
    if method in ("awq", "gptq", "awq_marlin", "gptq_marlin", "moe_wna16"):
        return "int4"
    groups = config.get("config_groups")
    texts = str(groups)
    if method == "compressed-tensors" and "'num_bits': 4" in texts and "'float'" not in texts:
        return "int4"
    return method


def slow_kv(facts: Facts) -> Known | None:
    """FP8 KV on an INT4 checkpoint with MLA on SM120, known where all of it is."""
    family = generation(facts)
    if not _kv_is_fp8(facts) or _method(facts) != "int4" or not facts.number("model.kv_lora_rank"):
        return None
    if family is None or family[0] != 120:
        return None
    says = f"FP8 KV with INT4 weights and MLA on {family[1].says}: a combination known to be slow"
    return Known(1, facts.cite_args("kv_cache_dtype") + family[1].cites + facts.cite("model.kv_lora_rank"), says)


def slow_weights(facts: Facts) -> Known | None:
    """FP8 block weights on SM120 left to Triton, as every version up to 0.5.15 does by default."""
    family = generation(facts)
    if _method(facts) != "fp8 block" or family is None or family[0] != 120:
        return None
    if at_least(version(facts), "0.5.16") is not False or switched_on(facts, CUTLASS_VARIABLE):
        return None
    if (facts.arg_text("fp8_gemm_runner_backend") or "auto") not in ("auto", "triton"):
        return None
    says = f"FP8 block weights on {family[1].says} run on Triton in this version, CUTLASS is known to be faster"
    return Known(1, facts.cite("model.quantization_config", "engine.version") + family[1].cites, says)


def _table(facts: Facts) -> Observation | None:
    known = slow_kv(facts) or slow_weights(facts)
    return None if known is None else Observation(known.says, known.cites, 0.5, 0.02)


def _gap(facts: Facts) -> Observation | None:
    gap = bandwidth_gap(facts)
    if gap is None:
        return None
    if gap.value >= FAR:
        return Observation(gap.says, gap.cites, 0.8, 0.15)
    if gap.value <= NEAR:
        return Observation(gap.says, gap.cites, 0.1, 0.6)
    return None


def _any_gain(facts: Facts) -> Known | None:
    return measured_gain(facts, *_LEVERS)


def _measured(facts: Facts) -> Observation | None:
    gain = _any_gain(facts)
    if gain is None or gain.value < 1.1:
        return None
    return Observation(gain.says, gain.cites, 0.85, 0.006)


def _plain(facts: Facts) -> Observation | None:
    """Nothing quantised: the model's config is known and names no method, and KV is left in the model's dtype."""
    known = bool(facts.number("model.num_hidden_layers")) and arguments_known(facts)
    if not known or _method(facts) or (facts.arg_text("kv_cache_dtype") or "auto") not in ("auto", "bf16", "bfloat16"):
        return None
    cites = facts.cite("model.num_hidden_layers") + facts.cite_args("kv_cache_dtype", "model_path")
    return Observation("weights and KV are not quantised", cites, 0.001, 0.5)


def _wide_kv(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    """The model's own format is what a version without the word for BF16 keeps KV in, where the flag is left out."""
    flag = installed_catalogue(facts).by_spelling.get(KV_FORMAT)
    named = flag is None or "bf16" in (flag.choices or ())
    return Remedy(
        "KR003",
        "relaunch",
        "Keep KV in BF16",
        Change(set={KV_FORMAT: "bf16"}) if named else Change(unset=(KV_FORMAT,)),
        cites,
        risks=("twice the memory per token: half the KV pool, so fewer requests or shorter contexts",),
        verify="tok/s of one request, and token usage at the working load",
        rollback="the KV format as it is now",
    )


def _cutlass(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    by_flag = GEMM_BACKEND in installed_catalogue(facts).by_spelling
    change = Change(set={GEMM_BACKEND: "cutlass"}) if by_flag else Change(env={CUTLASS_VARIABLE: "1"})
    return Remedy(
        "KR003",
        "relaunch",
        "Run FP8 block weights on CUTLASS",
        change,
        cites,
        risks=("a build without SM120 kernels stops at the first forward",),
        verify="input tok/s of a prefill-only run",
        rollback="without it",
    )


def _by_hand(facts: Facts) -> Remedy:
    return Remedy(
        "KR003",
        "operator",
        "Use the format that measured faster",
        Change(),
        facts.cite("trial.comparisons", "bench.levels"),
        risks=("other memory use, slightly other answers",),
        verify="tok/s at the working concurrency and the answers on a fixed set",
        rollback="the format as it is now",
    )


def _declined(facts: Facts) -> Declined:
    return Declined(
        "--quantization",
        "more quantisation does not help where the kernel, not the bytes, is slow",
        facts.cite("model.quantization_config") + facts.cite_args("kv_cache_dtype"),
    )


CAUSE = SlowQuantisedPath()
