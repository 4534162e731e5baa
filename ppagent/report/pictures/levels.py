"""tok/s against requests in flight: the measured levels, the ring that explains them, what the steps are forecast."""

from collections.abc import Sequence

from ppagent.changes.forecasts import slot_limit_in
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.model.deployment import Deployment
from ppagent.model.levels import Level
from ppagent.model.spread import forecast_limit
from ppagent.report.pictures.curves import Curves, Point, Range, thinned
from ppagent.report.pictures.lanes import THROUGHPUT, admitted, duty

BEYOND = 2
"""The model is carried on to this many times the highest measured load, and no farther."""


def curves_of(
    levels: Sequence[Level], points_name: str, ring: Deployment | None, proposals: Sequence[Proposal]
) -> Curves:
    """The curves of measured levels; the ring and the forecasts beside them where there is a ring."""
    points = tuple((float(level.concurrency), round(_tokens_per_s(level), 1)) for level in levels)
    priced = [(p, p.predicted) for p in proposals if p.predicted is not None and p.predicted.metric == THROUGHPUT]
    if ring is None:
        return Curves(points, points_name, marks=_marks(priced, None))
    loads = thinned(range(1, BEYOND * levels[-1].concurrency + 1))
    spread = next(((p, limit) for p, _ in priced if (limit := slot_limit_in(p.change)) and p.kind == "live"), None)
    # A level that was measured while requests queued says how a turn grows neither below nor above it.
    queued = admitted(ring, levels[-1].concurrency) < levels[-1].concurrency
    if spread is None or queued:
        return Curves(points, points_name, now=as_it_is(ring, loads), marks=_marks(priced, None))
    proposal, limit = spread
    band = tuple(_spread(ring, limit, load) for load in loads)
    name, marks = f"{proposal.id} (slot limit {limit})", _marks(priced, proposal)
    return Curves(points, points_name, as_it_is(ring, loads), band, name, marks)


def _tokens_per_s(level: Level) -> float:
    return level.tokens_per_s or 1000.0 * level.concurrency / level.turn_ms


def as_it_is(ring: Deployment, loads: Sequence[int]) -> tuple[Point, ...]:
    """The ring as it is, with the share of time that the highest level leaves to it; what its slots do not admit waits,
    and adds nothing."""
    share = duty(ring, ring.levels[-1].concurrency)
    running = [(load, admitted(ring, load)) for load in loads]
    turns_ms = [(load, count, ring.turn_now_ms(count)) for load, count in running]
    return tuple((float(load), round(1000.0 * share * count / ms, 1)) for load, count, ms in turns_ms if ms > 0)


def _spread(ring: Deployment, limit: int, load: int) -> tuple[float, float, float]:
    """The load, and the range of tok/s there; a limit that admits the whole load into one slot moves no request."""
    if load <= limit:
        same = round(ring.baseline(load), 1)
        return float(load), same, same
    found = forecast_limit(ring, limit, load).forecast
    return float(load), round(found.low, 1), round(found.high, 1)


def _marks(priced: Sequence[tuple[Proposal, Predicted]], banded: Proposal | None) -> tuple[Range, ...]:
    """Forecasts that the band does not show already."""
    shown = banded.predicted if banded is not None else None
    return tuple(
        Range(proposal.id, predicted.at_concurrency, predicted.low, predicted.high)
        for proposal, predicted in priced
        if shown is None or (predicted.low, predicted.high) != (shown.low, shown.high)
    )
