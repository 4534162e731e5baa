"""Layers dealt over the stages by the stages' own times, as traces or counters show them."""

from ppagent.causes.physics import roofline_of
from ppagent.causes.rebalance import KV_SHARE
from ppagent.evidence.facts import Facts
from ppagent.model.partition import most_layers
from ppagent.model.stage_costs import StageCosts

WORTH_FROM = 1.05
"""Longest measured stage now over the longest then from which another split is worth a restart (this tool's rule)."""

SLOW_CARD = 1.3
"""Time a layer of one stage over another's from which its card is to be looked at."""


def dealt(facts: Facts, costs: StageCosts) -> tuple[int, ...] | None:
    """The split that the stages' own times ask for, within what the cards hold; None where it is hardly a gain."""
    roofline, most = roofline_of(facts), None
    if roofline is not None and sum(costs.layers) == len(roofline.architecture.layers):
        fraction = facts.arg_number("mem_fraction_static") or 0.9
        most = most_layers(roofline, len(costs.layers), roofline.card.memory_gib * (fraction - KV_SHARE))
    better = costs.best_split(most)
    if better is None or max(costs.times) < WORTH_FROM * max(costs.times_of(better)):
        return None
    return better


def by_what(costs: StageCosts | None, better: tuple[int, ...]) -> str:
    """What the split was made from, in words."""
    if costs is None:
        return "by their number alone: no stage was timed"
    then = max(costs.times_of(better)) / max(costs.times)
    return f"by the stages' own times ({costs.source}): the longest then takes {then:.0%} of what it takes now"


def slow_card(costs: StageCosts | None) -> tuple[str, ...]:
    """A card that is slow for the layers it holds may be mended, and the split would then be wrong."""
    if costs is None:
        return ()
    paces = [time / count for time, count in zip(costs.times[:-1], costs.layers[:-1], strict=True)]
    if max(paces) < SLOW_CARD * min(paces):
        return ()
    stage = paces.index(max(paces))
    return (
        f"stage {stage} takes {max(paces) / min(paces):.2g} times another's time for each layer: look at its card "
        "first, since a split for a slow card is wrong once it is mended",
    )
