"""What raises a running cap that something else than the flag holds down."""

import re

from ppagent.causes.cause import Change, Remedy
from ppagent.causes.pool_remedies import larger_pool
from ppagent.causes.sighting import trouble_words, version
from ppagent.causes.situation import Cites, Known, data_parallel
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

POOL_ESTIMATE_FACTOR = 512
LEAST_ESTIMATE, MOST_ESTIMATE = 2048, 4096
"""The cap's estimate is tokens / context_len * 512, kept between 2048 and 4096 (pool set-up, 0.4.7 to 0.5.23)."""

ESTIMATE_BINDS_BELOW = "0.5.14"
"""Before this version the estimate bounds a requested cap too (pool set-up: read in 0.5.12; 0.5.14 bounds it by
tokens // 2)."""

DEFAULT_STATE_RATIO = 0.9
"""mamba_full_memory_ratio where none is set: state cache over KV cache (0.5.5 to 0.5.23)."""


def requested_share(facts: Facts) -> Known | None:
    """The requested cap as one scheduler's share of it, over the data-parallel ranks. The server's arguments keep
    what was asked for; what took effect stands in the capacity line and the internal state."""
    stated = told(facts, "from")
    if stated is not None:
        return Known(stated, facts.cite("trouble.cap_reduced"), f"{stated:g} requested")
    fact = facts.first("launch.max_running_requests", "args.max_running_requests")
    if fact is None or not fact.number:
        return None
    ranks = data_parallel(facts)
    if ranks is None or ranks.value < 2:
        return Known(fact.number, (fact.evidence,), f"{fact.number:g} requested")
    share = max(1.0, fact.number // ranks.value)
    says = f"{fact.number:g} requested over {ranks.value:g} DP ranks: {share:g} each"
    return Known(share, (fact.evidence, *ranks.cites), says)


def told(facts: Facts, field: str) -> float | None:
    """The figure after `from` or `to` in the start-up line about the cap, the largest where ranks differ."""
    figures = re.findall(r"\d+", trouble_words(facts, "cap_reduced", field))
    return max(map(float, figures)) if figures else None


def ways_to_raise(cause: str, facts: Facts, cites: Cites) -> tuple[Remedy, ...]:
    """Remedies by what binds, the most likely first."""
    asked = requested_share(facts)
    if bound_by_state_cache(facts):
        return (_larger_state_cache(cause, facts, asked, cites),)
    room = larger_pool(cause, facts, cites)
    shorter = _shorter_context(cause, facts, asked, cites)
    return tuple(remedy for remedy in (shorter, room) if remedy is not None) or (_ask_for_less(cause, cites),)


def bound_by_state_cache(facts: Facts) -> bool:
    """Whether a hybrid model's state slots bound the cap. The line that says so names no requested figure, the one
    that speaks of KV capacity does (pool set-up, 0.5.18 to 0.5.23); without a line the model's config tells."""
    if told(facts, "to") is not None:
        return told(facts, "from") is None
    state_fields = ("linear_num_value_heads", "mamba_d_state", "mamba_num_heads")
    return any(facts.number(f"model.{field}") for field in state_fields)


def _larger_state_cache(cause: str, facts: Facts, asked: Known | None, cites: Cites) -> Remedy:
    now = facts.arg_number("mamba_full_memory_ratio") or DEFAULT_STATE_RATIO
    got = facts.first("internal.max_running_requests", "start.max_running_requests")
    factor = asked.value / got.number if asked is not None and got is not None and got.number else 2.0
    wanted = min(4.0, now * max(1.1, factor))
    return Remedy(
        cause,
        "relaunch",
        "Give the state cache of the hybrid model more of the memory",
        Change(set={"--mamba-full-memory-ratio": f"{wanted:.1f}"}),
        cites,
        risks=("the KV pool gets smaller by what the state cache takes",),
        verify="the start-up line names the requested cap, and the queue falls at the same load",
        rollback=f"--mamba-full-memory-ratio {now:g}",
    )


def _shorter_context(cause: str, facts: Facts, asked: Known | None, cites: Cites) -> Remedy | None:
    """Helps only where tokens over context is what bounds the cap."""
    tokens = facts.first("start.max_total_tokens", "internal.memory.token_capacity")
    now = facts.first("start.context_len", "args.context_length", "launch.context_length")
    if asked is None or tokens is None or not tokens.number or now is None or not now.number:
        return None
    if asked.value <= LEAST_ESTIMATE or at_least(version(facts), ESTIMATE_BINDS_BELOW):
        return None
    wanted = int(tokens.number * POOL_ESTIMATE_FACTOR / min(asked.value, MOST_ESTIMATE)) // 256 * 256
    if wanted < 1024 or wanted >= now.number:
        return None
    return Remedy(
        cause,
        "relaunch",
        f"Shorten the context length from {now.number:g} to {wanted}, where no request needs more",
        Change(set={"--context-length": str(wanted)}),
        tuple(dict.fromkeys((*cites, tokens.evidence, now.evidence))),
        risks=("longer requests are refused",),
        verify="the start-up line names the requested cap, and the queue falls at the same load",
        rollback=f"--context-length {now.number:g}",
    )


def _ask_for_less(cause: str, cites: Cites) -> Remedy:
    return Remedy(
        cause,
        "operator",
        "Reckon with the cap in force: free memory for a larger pool, or spread the load over more servers",
        Change(),
        cites,
        verify="requests in flight stay at or below the cap in force",
        rollback="none needed",
    )
