"""What a pipeline goes together with, by version. Bounds were read in the published packages 0.4.7 to 0.5.23."""

from collections.abc import Iterator

from ppagent.errors import UserError
from ppagent.sglang.layers import PARTITION_VARIABLE, check_partition, default_split, parse_partition, spell_partition
from ppagent.sglang.legality.case import HOOKS, Case, Stated
from ppagent.sglang.legality.problem import Problem

_COMPATIBILITY = "check_pipeline_parallel_compat"
_PARALLEL = HOOKS + "parallel_hook.py"
_SPLIT = "srt/distributed/utils.py"

_OVERLAP = Stated(
    "incompatible with overlap schedule",
    function="_handle_pipeline_parallelism",
    later_file=HOOKS + "overrides.py",
    later_function="_pipeline_parallel_overlap_disable",
    moved="0.5.15",
)
_NOT_COMPATIBLE = Stated("not compatible with overlap schedule", "check_server_args", later_function=_COMPATIBILITY)
_MIXED = Stated("speculative decoding, mixed chunked prefill", "check_server_args")
_PREFILL_ONLY = Stated("is only supported on prefill nodes", _COMPATIBILITY)
_ONLY_EAGLE = Stated("currently only supports EAGLE", _COMPATIBILITY)
_PP_SPEC = Stated("SGLANG_ENABLE_PP_SPEC is not compatible", _COMPATIBILITY)
_DSPARK = Stated("Pipeline parallel DSPARK requires", _COMPATIBILITY)
_DFLASH = Stated("DFLASH speculative decoding only supports pp", "_handle_dflash", HOOKS + "speculative_hook.py")
_LIMIT = Stated("must be a positive integer or None", "check_server_args")
_FREE_SLOTS = Stated("--min-free-slots-delay is not supported", "check_server_args", later_function=_COMPATIBILITY)
_MOE_DP = Stated(
    "PP is not supported with context", "_handle_context_parallelism", _PARALLEL, "handle_context_parallelism"
)
_ELASTIC = Stated("PP size should be set to 1", "_handle_elastic_ep", _PARALLEL, "handle_elastic_ep")
_MAKE_LAYERS = Stated(
    "num_hidden_layers >= pp_size", "make_layers", "srt/utils/common.py", file="srt/utils.py", moved="0.5.3"
)
_PARTITION = Stated("len(partitions) != pp_size", "get_pp_indices", _SPLIT, file=_SPLIT)


def overlap_is_switched_off(case: Case) -> Iterator[Problem]:
    """Every version with a pipeline: the overlap scheduler goes off by itself."""
    if case.pipelined and not case.on("disable_overlap_schedule"):
        says = "The overlap scheduler is switched off with more than one stage."
        yield from case.problems("warning", "pp_size", says, "", _OVERLAP)


def speculation(case: Case) -> Iterator[Problem]:
    """Refused up to 0.5.20; from 0.5.21 EAGLE on prefill nodes, or everywhere with an environment switch."""
    algorithm = case.text("speculative_algorithm")
    if not case.pipelined or algorithm is None or not case.given("speculative_algorithm"):
        return
    drop = f"leave out {case.spelled('speculative_algorithm')}, or one stage: --pp-size 1"
    if not case.since("0.5.21"):
        if not (case.text("device") == "npu" and case.since("0.5.20")):
            says = f"Speculative decoding does not go with a pipeline in {case.catalogue.version}."
            yield from case.problems("refused", "speculative_algorithm", says, drop, _NOT_COMPATIBLE)
        return
    name = "EAGLE" if algorithm.upper() == "NEXTN" else algorithm.upper()
    if name == "DFLASH":
        yield from case.problems("refused", "speculative_algorithm", "DFLASH needs one stage.", drop, _DFLASH)
    elif name == "DSPARK":
        yield from _dspark(case, drop)
    elif name != "EAGLE" or case.on("enable_multi_layer_eagle"):
        says = f"With a pipeline only EAGLE can speculate, and not in its multi-layer form; this is {algorithm}."
        yield from case.problems("refused", "speculative_algorithm", says, drop, _ONLY_EAGLE)
    else:
        yield from _eagle(case)


def _dspark(case: Case, drop: str) -> Iterator[Problem]:
    if case.text("disaggregation_mode") != "prefill":
        says = "DSPARK goes with a pipeline on prefill nodes only."
        yield from case.problems("refused", "speculative_algorithm", says, drop, _DSPARK)


def _eagle(case: Case) -> Iterator[Problem]:
    """0.5.21+: `SGLANG_ENABLE_PP_SPEC` opens it for servers that are not split into prefill and decode."""
    mode = case.text("disaggregation_mode")
    if case.command.env.get("SGLANG_ENABLE_PP_SPEC", "0").lower() not in ("1", "true", "yes", "y"):
        if mode != "prefill":
            says = "EAGLE goes with a pipeline on prefill nodes, elsewhere only with an environment switch."
            yield from case.problems("refused", "speculative_algorithm", says, "SGLANG_ENABLE_PP_SPEC=1", _PREFILL_ONLY)
        return
    spread = (case.number("attn_dp_size") or 1) > 1 or case.on("enable_dp_attention")
    clashes = (
        ("disaggregation_mode", mode not in (None, "null")),
        ("speculative_adaptive", case.on("speculative_adaptive")),
        ("attn_dp_size" if case.given("attn_dp_size") else "enable_dp_attention", spread),
    )
    for dest, clashing in clashes:
        if clashing:
            says = f"SGLANG_ENABLE_PP_SPEC does not go with {case.written(dest)}."
            yield from case.problems("refused", dest, says, f"leave out {case.spelled(dest)}", _PP_SPEC)


def mixed_chunk(case: Case) -> Iterator[Problem]:
    """Refused with a pipeline up to 0.5.10; speculation switched it off before it could be refused."""
    if case.pipelined and case.on("enable_mixed_chunk") and not case.since("0.5.11"):
        if case.given("speculative_algorithm"):
            return
        says = f"Mixed chunked prefill does not go with a pipeline in {case.catalogue.version}; 0.5.11 allows it."
        instead = f"leave out {case.spelled('enable_mixed_chunk')}"
        yield from case.problems("refused", "enable_mixed_chunk", says, instead, _MIXED)


def slot_limit(case: Case) -> Iterator[Problem]:
    """Checked from 0.5.11; before, a limit below 1 lets the server start and admits nobody."""
    dest = "pp_max_micro_batch_size" if case.since("0.5.3.post1") else "max_micro_batch_size"
    limit = case.number(dest)
    if not case.given(dest) or limit is None or limit >= 1:
        return
    instead = f"{case.spelled(dest)} 1 or more, or leave it out"
    if case.since("0.5.11"):
        says = f"A slot has to take at least one request, not {limit}."
        yield from case.problems("refused", dest, says, instead, _LIMIT)
    else:
        says = f"With a slot limit of {limit} no request is ever admitted."
        source = "srt/managers/scheduler.py: get_num_allocatable_reqs (table by version)"
        yield Problem("warning", case.written(dest), says, instead, source)


def one_stage_only(case: Case) -> Iterator[Problem]:
    """Features that demand a single stage."""
    if not case.pipelined:
        return
    rules = (
        ("moe_dp_size", (case.number("moe_dp_size") or 1) > 1, "0.5.9", _MOE_DP),
        ("elastic_ep_backend", case.text("elastic_ep_backend") is not None, "0.5.11", _ELASTIC),
        ("min_free_slots_delay", case.value("min_free_slots_delay") is not None, "0.5.18", _FREE_SLOTS),
    )
    for dest, wanted, first, stated in rules:
        if wanted and case.given(dest) and case.since(first):
            says = f"{case.written(dest)} goes with one stage only."
            yield from case.problems("refused", dest, says, f"leave out {case.spelled(dest)}", stated)


def layers(case: Case) -> Iterator[Problem]:
    """At least one layer a stage."""
    stages = case.number("pp_size") or 1
    if case.num_layers is not None and stages > case.num_layers:
        says = f"{stages} stages cannot share {case.num_layers} layers."
        yield from case.problems("refused", "pp_size", says, f"--pp-size {case.num_layers} or less", _MAKE_LAYERS)


def partition(case: Case) -> Iterator[Problem]:
    """The variable has to name every stage and every layer. From 0.5.19 a single stage ignores it."""
    text = case.command.env.get(PARTITION_VARIABLE)
    stages = case.number("pp_size")
    if text is None or "$" in text or stages is None:
        return
    if stages == 1 and case.since("0.5.19"):
        says = f"{PARTITION_VARIABLE} has no effect with one stage."
        place = f"{_SPLIT}: get_pp_indices (table by version)"
        yield Problem("ignored", PARTITION_VARIABLE, says, "leave it out", place)
        return
    try:
        wrong = check_partition(parse_partition(text), case.num_layers, stages)
    except UserError as error:
        wrong = error.wrong
    source = case.source_of(_PARTITION)
    if wrong is None or source is None:
        return
    layers = case.num_layers or 0
    split = default_split(layers, stages, case.version) if 1 <= stages <= layers else None
    instead = f"{PARTITION_VARIABLE}={spell_partition(split)} (the default split)" if split else "one number a stage"
    yield Problem("refused", PARTITION_VARIABLE, wrong, instead, source)


def pipeline_flags_without_pipeline(case: Case) -> Iterator[Problem]:
    """Depth and dynamic chunks do something between stages only."""
    if case.pipelined or (case.command.option("pp_size") is not None and not case.given("pp_size")):
        return
    wanted = (
        ("pp_async_batch_depth", (case.number("pp_async_batch_depth") or 0) > 0),
        ("enable_dynamic_chunking", case.on("enable_dynamic_chunking")),
    )
    for dest, asked in wanted:
        if asked and case.given(dest):
            says = f"{case.written(dest)} has no effect with one stage."
            yield Problem("ignored", case.written(dest), says, "", "srt/managers/scheduler.py (table by version)")


RULES = (
    overlap_is_switched_off,
    speculation,
    mixed_chunk,
    slot_limit,
    one_stage_only,
    layers,
    partition,
    pipeline_flags_without_pipeline,
)
