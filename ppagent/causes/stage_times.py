"""Each stage's own time, from whatever tells it: device counters, traces, cards, or the turns of two load levels."""

import re
from collections.abc import Callable, Iterable, Mapping

from ppagent.causes.cause import Observation
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import in_flight, levels, slot_limit, slots, spread_limit, stages
from ppagent.causes.traced import stage_shares
from ppagent.evidence.facts import Facts

HOST_SIDE = "metrics.run_batch_busy"
"""The host's share: a launch returns before the device has worked, so that even shares say nothing of the stages
unless the host spends most of its time there: then it launches too slowly, or the work itself is done in it."""

HOST_PACES = 0.5
TRACED = "profile.busy"
DEVICE_SIDE = ("metrics.forward_busy", "metrics.fwd_occupancy", "decode.fwd_occupancy", TRACED)
CARDS = ("gpu.power_w", "gpu.utilization")

SLOW = 1.5
"""Longest stage over the mean, by the turns of two levels, from which one stage paces the rest. Prompts that run
between the steps of a full ring lengthen its turn too, by less than that."""

LONG_PROMPTS = 8
"""Prompt tokens for each token of the answer from which prefill may be what fills a turn."""

EVEN = 1.3
"""Up to here they may be even: that much comes from the requests that share a slot, and from prompts."""

Pick = Callable[[Iterable[float]], float]
"""Which of its ranks stands for a stage: max or min."""


def stages_seen(facts: Facts) -> bool:
    """Whether anything known would show one stage to be slower than the others. Without a pipeline, or with fewer
    requests than stages, it would not matter: each token takes all stages in turn as it is."""
    ring, load = stages(facts), in_flight(facts)
    if ring is None or ring.value < 2 or (load is not None and load.value < ring.value):
        return True
    name, shares = busy_shares(facts)
    if shares and (name != HOST_SIDE or max(shares.values()) >= HOST_PACES):
        return True
    if any(len(facts.numbers(card)) >= ring.value for card in CARDS):
        return True
    return levels_ratio(facts) is not None


def busy_shares(facts: Facts) -> tuple[str, dict[str, float]]:
    """Busy share of each stage, 0 to 1 or in percent, and the fact it is from; device times before host times."""
    ring = stages(facts)
    for name in (*DEVICE_SIDE, HOST_SIDE):
        rows = facts.numbers(name) if name != TRACED else (stage_shares(facts, "busy") or ({}, ()))[0]
        shares = {rank: value for rank, value in rows.items() if value > 0}
        if ring is not None and len(shares) >= max(2, ring.value):
            return name, shares
    return "", {}


def by_stage(by_rank: Mapping[str, float], pick: Pick = max) -> dict[int, float]:
    """What `pick` takes of each stage's ranks, by stage; ranks without one in their label (`PP3 TP1`) are left out.

    The most where a stage waits for its slowest rank, or is as full as its fullest card.
    """
    ranks: dict[int, list[float]] = {}
    for rank, value in by_rank.items():
        label = re.search(r"PP(\d+)", rank)
        if label is not None:
            ranks.setdefault(int(label[1]), []).append(value)
    return {stage: pick(values) for stage, values in ranks.items()}


def by_busy(facts: Facts) -> Observation | None:
    """One stage busier than the mean, or all alike."""
    name, busy = busy_shares(facts)
    if not busy:
        return None
    mean = sum(busy.values()) / len(busy)
    slowest = max(busy, key=lambda rank: busy[rank])
    ratio = busy[slowest] / mean
    source = "traced kernels" if name == TRACED else name.split(".")[1]
    says = f"{slowest} is busy {ratio:.2f} times the mean of the stages ({source})"
    weak = name == HOST_SIDE and max(busy.values()) < HOST_PACES
    if ratio >= EVEN:
        return Observation(says, facts.cite(name), 0.85 if weak else 0.95, 0.05 if weak else 0.01)
    if ratio <= 1.12 and not weak:
        return Observation(says, facts.cite(name), 0.05, 0.7)
    return None


def levels_ratio(facts: Facts) -> tuple[float, float, str] | None:
    """(longest stage over the mean at the most, requests in a slot, how it was found), from one request's turn and that
    of a ring whose slots are all filled: the first is the sum of the stages, the second the longest times the slots.
    None without both, or where requests may have clumped."""
    ring, count, limit, measured = slots(facts), stages(facts), slot_limit(facts), levels(facts)
    if ring is None or count is None or limit is None or not measured or measured[0].concurrency > 1.01:
        return None
    alone = measured[0]
    full = [m for m in measured if m.concurrency >= ring.value and m.from_latency]
    dealt = [m for m in full if limit.value <= spread_limit(m.concurrency, ring.value)]
    if not dealt or not alone.from_latency or not alone.turn_ms:
        return None
    filled = dealt[0]
    each = min(limit.value, filled.concurrency / ring.value)
    ratio = filled.turn_ms / ring.value / (alone.turn_ms / count.value)
    says = (
        f"a turn takes {alone.turn_ms:.4g} ms for one request, the sum of the stages, and {filled.turn_ms:.4g} ms with "
        f"all {ring.value:g} slots filled, {ring.value:g} times the longest: {ratio:.2f} of the mean at the most"
    )
    return ratio, each, says


def by_levels(facts: Facts) -> Observation | None:
    """What two load levels say of the longest stage. With several requests in a slot a long turn may be theirs."""
    found = levels_ratio(facts)
    if found is None:
        return None
    ratio, each, says = found
    cites = tuple(dict.fromkeys(cite for level in levels(facts) for cite in level.cites))
    if ratio <= EVEN:
        return Observation(says, cites, 0.08, 0.7)
    if ratio >= SLOW and each <= 1.01 and not _prompts_weigh(facts):
        return Observation(says, cites, 0.92, 0.012)
    return None


def _prompts_weigh(facts: Facts) -> bool:
    """Whether prompts are so long against the answers that running them between steps could lengthen a turn by half."""
    lengths = [(number(row.get("input_len")), number(row.get("output_len"))) for row in bench_rows(facts)]
    return any(prompt > LONG_PROMPTS * answer for prompt, answer in lengths if answer > 0)
