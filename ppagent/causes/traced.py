"""What profiler traces show, for the causes that it decides. A trace is of some forwards only, and slows the host."""

from ppagent.causes.situation import Cites, Known, stages
from ppagent.evidence.facts import Facts

FEWEST_STEPS = 6
"""Forwards of each stage below which shares of their time are chance."""
FEWEST_FORWARDS = 8
"""Decode forwards, of all ranks, below which a share of them is."""


def stage_shares(facts: Facts, *names: str) -> tuple[dict[str, float], Cites] | None:
    """By stage: the sum of these parts of its time. None unless every stage was traced, long enough, on a card."""
    tables = [facts.numbers(f"profile.{name}") for name in names]
    first = tables[0]
    ring, steps = stages(facts), facts.numbers("profile.steps")
    if not first or any(set(table) != set(first) for table in tables):
        return None
    if ring is not None and len(first) < ring.value:
        return None
    if steps and min(steps.values()) < FEWEST_STEPS:
        return None
    cites = facts.cite(*(f"profile.{name}" for name in names))
    return {stage: sum(table[stage] for table in tables) for stage in first}, cites


def at_work(facts: Facts) -> tuple[dict[str, float], Cites] | None:
    """By stage: share of the time in which it was on a forward: its card computed, or idled while the host launched."""
    return stage_shares(facts, "busy", "gap_inside") or stage_shares(facts, "busy")


def held_by_host(facts: Facts) -> Known | None:
    """Of the time that stages had work, the share in which their cards idled because the host launched, chose the next
    batch or worked on a result; the mean of the stages."""
    held = stage_shares(facts, "gap_inside", "gap_scheduling")
    whole = stage_shares(facts, "busy", "gap_inside", "gap_scheduling")
    if held is None or whole is None or not all(whole[0].values()):
        return None
    shares = [held[0][stage] / whole[0][stage] for stage in whole[0]]
    mean = sum(shares) / len(shares)
    says = f"in the trace cards idle {mean:.0%} of the time of their steps while the host launches or schedules"
    return Known(mean, tuple(dict.fromkeys(held[1] + whole[1])), says)


def traced_graph_share(facts: Facts) -> Known | None:
    """Share of traced decode forwards that were graph launches. Where prefills could not be told from them, known only
    if there is any graph: a stretch of prefills has none in any case."""
    share, forwards = facts.number("profile.graph_step_share"), _forwards(facts)
    if share is None or forwards < FEWEST_FORWARDS or (share == 0 and not facts.flag("profile.modes_told")):
        return None
    cites = facts.cite("profile.graph_step_share")
    launches = facts.number("profile.launches_per_step")
    says = f"{share:.0%} of {forwards:g} traced decode forwards were launched as a graph"
    if share < 0.5 and launches is not None:
        says += f", the others kernel by kernel ({launches:g} launches each)"
    return Known(share, cites, says)


def _forwards(facts: Facts) -> float:
    return (facts.number("profile.graph_steps") or 0.0) + (facts.number("profile.eager_steps") or 0.0)
