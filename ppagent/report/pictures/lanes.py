"""The ring as it is, under every fill that the evidence allows, and as the first step that moves it would have it."""

import math
from collections.abc import Sequence

from ppagent.changes.forecasts import slot_limit_in, split_in
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.model.deployment import Deployment, Shares
from ppagent.model.slots import filled_slots
from ppagent.model.timeline import timeline_at
from ppagent.report.pictures.timeline import Lane
from ppagent.report.rate import rate

THROUGHPUT = "output_throughput"
MOST_OF_THE_TIME = 0.85
"""Below it, what a benchmark gives is told apart from what the ring turns."""


def lanes_of(ring: Deployment, proposals: Sequence[Proposal]) -> tuple[Lane, ...]:
    """Lanes at the highest measured load, as it is first."""
    at = ring.levels[-1].concurrency
    lanes = lanes_now(ring, at)
    for proposal in proposals:
        predicted = proposal.predicted
        if predicted is not None and predicted.metric == THROUGHPUT and predicted.high > 0:
            limit, shares = slot_limit_in(proposal.change), drawn_shares(ring, split_in(proposal.change))
            return (*lanes, lane_then(ring, at, limit, predicted, f"Proposed, {proposal.id}", shares))
    return lanes


def lanes_now(ring: Deployment, at: int) -> tuple[Lane, ...]:
    """One lane for the least fill that is allowed, another for the most where that is more."""
    fills = {max(1, round(filled_slots(at, fill, ring.slots, ring.slot_limit))) for fill in ring.fill}
    several = len(fills) > 1
    return tuple(
        Lane(
            f"Now, {'if ' if several else ''}{_filled(fill, ring.slots)}",
            _gives_now(ring, at),
            timeline_at(ring.shares[0], ring.turn_now_ms(at), fill, admitted(ring, at)),
            now=True,
        )
        for fill in sorted(fills)
    )


def admitted(ring: Deployment, load: int) -> int:
    """Requests that the slot limit in force lets run; the others wait."""
    return load if ring.slot_limit is None else min(load, ring.slot_limit * ring.slots)


def duty(ring: Deployment, at: int) -> float:
    """Share of time, 0 to 1, that prefill, think time and ramps leave to the ring: what a benchmark's tok/s shows of
    the turn."""
    return min(1.0, ring.turn_now_ms(at) * ring.baseline(at) / (1000.0 * admitted(ring, at)))


def _gives_now(ring: Deployment, at: int) -> str:
    running = admitted(ring, at)
    every = f"{running} token{'' if running == 1 else 's'} every {rate(ring.turn_now_ms(at))} ms"
    speed = f"{rate(ring.baseline(at))} tok/s"
    return f"{every}, {speed}" if duty(ring, at) > MOST_OF_THE_TIME else f"{every} of decode, {speed} in all"


def drawn_shares(ring: Deployment, split: Sequence[int] | None) -> Shares:
    """How a turn divides over the stages in a drawing: as now, or with the layers of `split`, by the stages' own times
    where they were taken."""
    if split is None or len(split) != ring.stages:
        return ring.shares[0]
    if ring.measured is not None and sum(split) == sum(ring.measured.layers):
        return ring.measured.shares_of(split)
    return tuple(count / sum(split) for count in split)


def divided_by(ring: Deployment | None) -> str:
    """What a drawing divides a turn over the stages by, in words."""
    if ring is None or ring.measured is None:
        return "the layers, as no stage's own time was measured"
    return f"the stages' own times ({ring.measured.source})"


def lane_then(
    ring: Deployment, at: int, limit: int | None, predicted: Predicted, name: str, shares: Shares | None = None
) -> Lane:
    """The lane after a change, drawn for the middle of its forecast; without a limit the slots stay filled as now, and
    without `shares` a turn divides over the stages as now."""
    fill_now = max(1, round(filled_slots(at, ring.fill[0], ring.slots, ring.slot_limit)))
    running = at if limit is None else min(at, limit * ring.slots)
    filled = fill_now if limit is None else min(-(-running // limit), ring.slots)
    middle = math.sqrt(max(predicted.low, 0.01 * predicted.high) * predicted.high)
    return Lane(
        f"{name}: {_filled(filled, ring.slots)}",
        f"forecast {rate(predicted.low)} to {rate(predicted.high)} tok/s, drawn for {rate(middle)}",
        timeline_at(shares or ring.shares[0], 1000.0 * running / middle * duty(ring, at), filled, running),
        now=False,
    )


def _filled(filled: int, slots: int) -> str:
    return f"{filled} of {slots} slots {'is' if filled == 1 else 'are'} filled"
