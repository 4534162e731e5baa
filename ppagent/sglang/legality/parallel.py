"""Ranks, nodes and data parallelism. Bounds were read in the published packages 0.4.7 to 0.5.23."""

from collections.abc import Iterator

from ppagent.sglang.legality.case import HOOKS, Case, Stated
from ppagent.sglang.legality.problem import Problem

_PARALLEL = HOOKS + "parallel_hook.py"
_NODES = Stated("divisible by number of nodes", "check_server_args")
_REPLICAS_OLD = Stated("multi-node data parallel is not supported", "check_server_args")
_REPLICAS_NEW = Stated("multi-node data-parallel replicas", "check_server_args")
_BASE_GPU = Stated("base_gpu_id must be non-negative", "check_server_args")
_GPU_STEP = Stated("gpu_id_step must be positive", "check_server_args")
_DENSE_TP = Stated("moe_dense_tp_size only support", "check_server_args")
_ATTENTION_DP = Stated("tp_size % ", "_handle_data_parallelism", _PARALLEL, "handle_data_parallelism")
_DP_ABOVE_1 = Stated("Please set a dp-size > 1", "__post_init__")
_DP_RESET = Stated(
    "dp_size == 1", "_handle_data_parallelism", HOOKS + "overrides.py", "_data_parallelism_defaults", moved="0.5.15"
)
_BOTH_DP = Stated("data-parallel replicas combined with attention", "handle_data_parallelism", _PARALLEL)
_CONTEXT = Stated("divisible by attn_cp_size", "_handle_context_parallelism", _PARALLEL, "handle_context_parallelism")


def nodes(case: Case) -> Iterator[Problem]:
    """All ranks have to spread evenly over the nodes; a node joining by scaling (0.5.16+) is exempt."""
    tp, pp, count = case.number("tp_size"), case.number("pp_size"), case.number("nnodes")
    if tp is None or pp is None or not count or case.text("ep_join_mode") == "scale":
        return
    if tp * pp % count:
        says = f"{tp} x {pp} = {tp * pp} ranks do not spread evenly over {count} nodes."
        yield from case.problems("refused", "nnodes", says, f"--nnodes with a divisor of {tp * pp}", _NODES)


def replicas_on_one_node(case: Case) -> Iterator[Problem]:
    """Plain data parallelism stays on one node; across nodes it has to be attention DP."""
    dp, count = case.number("dp_size"), case.number("nnodes")
    if dp is None or dp <= 1 or not count or count == 1 or case.on("enable_dp_attention"):
        return
    says = f"{dp} data-parallel replicas do not run over {count} nodes."
    if case.since("0.5.22"):
        yield from case.problems("refused", "dp_size", says, f"--attn-dp-size {dp}", _REPLICAS_NEW)
    else:
        instead = f"{case.spelled('dp_size')} {dp} --enable-dp-attention"
        yield from case.problems("refused", "dp_size", says, instead, _REPLICAS_OLD)


def attention_dp(case: Case) -> Iterator[Problem]:
    """Attention DP divides the tensor-parallel ranks. 0.5.22 gave it a size of its own, --attn-dp-size."""
    tp = case.number("tp_size")
    dest, groups = _attention_groups(case)
    if tp is None or groups is None:
        return
    if groups > 1 and tp % groups:
        says = f"{groups} attention groups do not divide {tp} tensor-parallel ranks."
        yield from case.problems("refused", dest, says, f"{case.spelled(dest)} with a divisor of {tp}", _ATTENTION_DP)
    elif groups == 1 and case.on("enable_dp_attention"):
        yield from _one_group(case)


def _attention_groups(case: Case) -> tuple[str, int | None]:
    if case.since("0.5.22") and (case.number("attn_dp_size") or 1) != 1:
        return "attn_dp_size", case.number("attn_dp_size")
    return ("dp_size", case.number("dp_size")) if case.on("enable_dp_attention") else ("dp_size", None)


def _one_group(case: Case) -> Iterator[Problem]:
    instead = f"{case.spelled('dp_size')} 2 or more, or leave out {case.spelled('enable_dp_attention')}"
    if not case.since("0.5.2"):
        says = "Attention DP needs more than one group."
        yield from case.problems("refused", "enable_dp_attention", says, instead, _DP_ABOVE_1)
    elif not case.since("0.5.22"):
        says = f"{case.written('enable_dp_attention')} is switched off: there is one group only."
        yield from case.problems("ignored", "enable_dp_attention", says, instead, _DP_RESET)


def both_kinds_of_dp(case: Case) -> Iterator[Problem]:
    """0.5.22+: replicas and attention DP are two flags, and only one may be above 1."""
    groups, dp = case.number("attn_dp_size"), case.number("dp_size")
    if not case.since("0.5.22") or groups is None or dp is None:
        return
    if groups > 1 and dp > 1:
        says = "Replicas and attention DP do not go together."
        instead = f"leave out {case.spelled('dp_size')}"
        yield from case.problems("refused", "dp_size", says, instead, _BOTH_DP)


def gpu_numbers(case: Case) -> Iterator[Problem]:
    """First GPU at 0 or above, steps of at least 1."""
    for dest, least, stated in (("base_gpu_id", 0, _BASE_GPU), ("gpu_id_step", 1, _GPU_STEP)):
        number = case.number(dest)
        if number is not None and number < least:
            says = f"{case.written(dest)} is {number}; the least is {least}."
            yield from case.problems("refused", dest, says, f"{case.spelled(dest)} {least} or more", stated)


def dense_tp(case: Case) -> Iterator[Problem]:
    """1 or unset; from 0.5.13 also the tensor-parallel size itself."""
    size, tp = case.number("moe_dense_tp_size"), case.number("tp_size")
    if size is None or size == 1 or (size == tp and case.since("0.5.13")):
        return
    says = f"{case.written('moe_dense_tp_size')} does not take {size}."
    yield from case.problems("refused", "moe_dense_tp_size", says, f"{case.spelled('moe_dense_tp_size')} 1", _DENSE_TP)


def context_parallel(case: Case) -> Iterator[Problem]:
    """0.5.9+: attention context parallelism divides the tensor-parallel ranks."""
    tp, cp = case.number("tp_size"), case.number("attn_cp_size")
    if case.since("0.5.9") and tp is not None and cp is not None and cp > 1 and tp % cp:
        says = f"{cp} context-parallel ranks do not divide {tp} tensor-parallel ranks."
        instead = f"{case.spelled('attn_cp_size')} with a divisor of {tp}"
        yield from case.problems("refused", "attn_cp_size", says, instead, _CONTEXT)


RULES = (
    nodes,
    replicas_on_one_node,
    attention_dp,
    both_kinds_of_dp,
    gpu_numbers,
    dense_tp,
    context_parallel,
)
