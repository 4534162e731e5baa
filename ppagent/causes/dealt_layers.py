"""Another layer split for uneven stages: by the stages' own times, else by bytes, else by the number of layers."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.causes.graphs import graphs_off
from ppagent.causes.physics import measured_levels, roofline_of, stage_costs_of
from ppagent.causes.pool_fit import budget_gib, fit_said, weight_limit_gib
from ppagent.causes.split import Split
from ppagent.evidence.facts import Facts
from ppagent.model.partition import Partition, best_by_times, best_partition, describe_partition
from ppagent.model.roofline import Roofline
from ppagent.model.stage_costs import StageCosts

WORTH_FROM = 1.05
"""Longest stage now over the longest then from which another split is worth a restart (this tool's rule)."""

SLOW_CARD = 1.3
"""Time a layer of one stage over another's from which its card is to be looked at."""


@dataclass(frozen=True)
class Dealt:
    """A split, what it was made from in words, and what to mind of it."""

    layers: tuple[int, ...]
    made_by: str
    risks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The value for SGLANG_PP_LAYER_PARTITION."""
        return ",".join(map(str, self.layers))


def dealt(facts: Facts, split: Split) -> Dealt | None:
    """The split to have instead of `split`; None where there is none that is worth a restart.

    Measured times win over bytes, and bytes over the number of layers: these know of no LM head and no slow card.
    Without decode graphs the host launches every layer alike and hides the head, so that bytes do not count.
    """
    costs, roofline = stage_costs_of(facts), roofline_of(facts)
    if roofline is not None and sum(split.layers) != len(roofline.architecture.layers):
        roofline = None
    if costs is not None:
        return by_times(facts, costs, roofline)
    if roofline is not None and min(split.layers) > 0 and not graphs_off(facts):
        return _by_bytes(facts, split, roofline)
    return _by_number(facts, split)


def prefill_effect(now: tuple[int, ...], then: tuple[int, ...]) -> str:
    """What another split does to prefill, where layers alone count."""
    before, after = (sum(layers) / len(layers) / max(layers) for layers in (now, then))
    goes = f"goes from {before:.0%} to {after:.0%}" if f"{before:.0%}" != f"{after:.0%}" else f"stays at {after:.0%}"
    return f"prefill, where layers alone count, {goes} of an even split's speed"


def by_times(facts: Facts, costs: StageCosts, roofline: Roofline | None) -> Dealt | None:
    """The split that evens out measured times, within the memory of the cards where model and card are known."""
    if roofline is None:
        better: tuple[int, ...] | None = costs.best_split()
    else:
        better = best_by_times(roofline, costs, weight_limit_gib(facts, roofline), budget_gib(facts, roofline))
    if better is None or not faster(costs.times, costs.times_of(better), WORTH_FROM):
        return None
    then = max(costs.times_of(better)) / max(costs.times)
    says = f"by the stages' own times ({costs.source}): the longest then takes {then:.0%} of what it takes now"
    return fitted(facts, costs.layers, better, says, _slow_card(costs))


def faster(now: Sequence[float], then: Sequence[float], worth_from: float) -> bool:
    """Whether the longest of the stage times `now` is `worth_from` times the longest `then`, or more."""
    return max(now) >= worth_from * max(then)


def faster_by_bytes(
    facts: Facts, split: Split, roofline: Roofline, batch: float, worth_from: float, per_layer_ms: float = 0.0
) -> tuple[Partition, Partition] | None:
    """The split of now and the fastest one that fits the cards, by each layer's own bytes at `batch` requests a slot
    and `per_layer_ms` beyond them; None where none is faster by `worth_from`."""
    now = describe_partition(roofline, split.layers, batch, per_layer_ms)
    limit, budget = weight_limit_gib(facts, roofline), budget_gib(facts, roofline)
    best = best_partition(roofline, len(split.layers), batch, limit, per_layer_ms, budget)
    return (now, best) if best is not None and faster(now.stage_ms, best.stage_ms, worth_from) else None


def fitted(
    facts: Facts, now: tuple[int, ...], then: tuple[int, ...], made_by: str, risks: tuple[str, ...] = ()
) -> Dealt:
    """The split `then` with what it does to the memory of the cards, after the other `risks`."""
    return Dealt(then, made_by, (*risks, fit_said(facts, now, then)))


def _by_bytes(facts: Facts, split: Split, roofline: Roofline) -> Dealt | None:
    """What a turn takes beyond the bytes at peak bandwidth goes by layers; the LM head stays on the last stage."""
    turns = [level.turn_ms for level in measured_levels(facts)[:1]]
    rest_ms = max(0.0, turns[0] - roofline.ring_ms(1)) if turns else 0.0
    found = faster_by_bytes(facts, split, roofline, 1, WORTH_FROM, rest_ms / sum(split.layers))
    if found is None:
        return None
    now_ms, then_ms = (max(each.stage_ms) for each in found)
    what = f"the bytes of a step and a turn of {turns[0]:.3g} ms" if turns else "the bytes of a step"
    says = f"by {what}, no stage was timed: the longest then takes {then_ms:.3g} ms, {now_ms:.3g} ms now"
    return fitted(facts, split.layers, found[1].layers, says)


def _by_number(facts: Facts, split: Split) -> Dealt | None:
    """The extra layers spread away from the last stage, which also holds the LM head."""
    base, extra = divmod(sum(split.layers), len(split.layers))
    even = tuple(base + 1 if stage < extra else base for stage in range(len(split.layers)))
    if even == split.layers:
        return None
    return fitted(facts, split.layers, even, "by their number alone: no stage was timed")


def _slow_card(costs: StageCosts) -> tuple[str, ...]:
    """A card that is slow for the layers it holds may be mended, and the split would then be wrong."""
    paces = [time / count for time, count in zip(costs.times[:-1], costs.layers[:-1], strict=True)]
    if max(paces) < SLOW_CARD * min(paces):
        return ()
    stage = paces.index(max(paces))
    return (
        f"stage {stage} takes {max(paces) / min(paces):.2g} times another's time for each layer: look at its card "
        "first, since a split for a slow card is wrong once it is mended",
    )
