"""What `ppagent predict` answers: the forecast, the chart and the timelines as numbers, for whichever form is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ppagent.changes.proposal import Predicted
from ppagent.changes.shapes import Shapes
from ppagent.changes.untold import why_untold
from ppagent.evidence.counts import agreeing
from ppagent.model.deployment import Deployment
from ppagent.model.forecast import Forecast
from ppagent.model.ring import Ring
from ppagent.model.timeline import timeline_of
from ppagent.model.whatif import Server, Settings, what_if
from ppagent.report.pictures.curves import Curves, Point, thinned
from ppagent.report.pictures.lanes import divided_by, drawn_shares, lane_then, lanes_now
from ppagent.report.pictures.levels import as_it_is
from ppagent.report.pictures.timeline import Lane
from ppagent.report.rate import rate

MOST_LOADS = 24
"""Loads for which a chart is worked out; between them it is drawn straight."""

Priced = Callable[[int, int], tuple[float, float, float] | None]
"""Low, middle and high tok/s of a slot limit at a load; None where the model cannot tell."""


@dataclass(frozen=True)
class Cell:
    """One entry of the table: tok/s of a slot limit at a load, as a range and its middle."""

    limit: int
    load: int
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Answer:
    """One question answered. `came_about` says how the figures that nobody computed came about."""

    title: str
    forecast: Forecast
    lanes: tuple[Lane, ...]
    curves: Curves
    cells: tuple[Cell, ...]
    came_about: str
    measured: bool
    """Whether it starts from measured levels, else from stage times as given."""
    fill_said: str = ""
    """Every reading of the fill now."""
    divided_by: str = "the layers"
    """What the lanes divide a turn over the stages by."""
    shapes: Shapes | None = None
    """Other TPxPP shapes of the same cards; None for a ring by its numbers."""
    untold: str = ""
    """Why the forecast does not tell whether it helps, and what would; empty where it tells."""
    record: str = ""
    """How forecasts made so far on this machine fared; empty where nothing was ever measured."""


def answer_for_server(title: str, server: Server, then: Settings, at: int, origin: str, fill_said: str) -> Answer:
    """The answer for a server whose levels came about as `origin` says. Raises ValueError where the model cannot
    answer."""
    forecast = what_if(server, then, at)
    now = server.deployment(at)
    limit = then.slot_limit if then.slot_limit is not None and then.slot_limit < at else None
    deeper = replace(now, slots=server.stages + then.async_depth)
    predicted = Predicted(forecast.metric, at, forecast.baseline, forecast.low, forecast.high)
    priced = _priced(server, then, now)
    points = tuple((float(level.concurrency), round(now.baseline(level.concurrency), 1)) for level in now.levels)
    drawn = Curves(points, origin, as_it_is(now, _loads(server.stages, at)))
    return Answer(
        title=title,
        forecast=forecast,
        lanes=(*lanes_now(now, at), lane_then(deeper, at, limit, predicted, "Then", drawn_shares(now, then.split))),
        curves=_with_limits(drawn, priced, limit, server.slots, at),
        cells=_cells(priced, server.stages, server.slots, limit, at),
        came_about=origin,
        measured=True,
        fill_said=fill_said,
        divided_by=divided_by(now),
        untold=why_untold(forecast, server),
    )


def _priced(server: Server, then: Settings, now: Deployment) -> Priced:
    """What the model says of `server`, measured as `now`, with the settings `then` and one slot limit or another."""
    stays = then.graph == server.now.graph and then.split in (None, server.now.split)

    def priced(slot_limit: int, load: int) -> tuple[float, float, float] | None:
        spread_now = now.slot_limit is not None and now.slot_limit < load
        if stays and not spread_now and slot_limit >= load:
            # A limit that admits the whole load into one slot moves no request: the slots stay filled as they are.
            same = now.baseline(load)
            return same, same, same
        try:
            found = what_if(server, replace(then, slot_limit=slot_limit), load)
        except ValueError:
            return None
        return found.low, found.middle, found.high

    return priced


def answer_for_ring(title: str, forecast: Forecast, ring: Ring, then: Settings, at: int, origin: str) -> Answer:
    """The answer for a ring whose stage times come from where `origin` says; `ring` has its slots as asked for."""
    before = replace(ring, slots=len(ring.stages))

    def priced(slot_limit: int, load: int) -> tuple[float, float, float]:
        running = min(load, slot_limit * ring.slots)
        tokens_per_s = ring.tokens_per_s(-(-running // slot_limit), running)
        return tokens_per_s, tokens_per_s, tokens_per_s

    limit = then.slot_limit or at
    now = tuple((float(load), round(before.tokens_per_s(1, load), 1)) for load in _loads(len(ring.stages), at))
    return Answer(
        title=title,
        forecast=forecast,
        lanes=(_lane("Now", before, at, at, now=True), _lane("Then", ring, limit, at, now=False)),
        curves=_with_limits(Curves((), "", now), priced, then.slot_limit, ring.slots, at),
        cells=_cells(priced, len(ring.stages), ring.slots, limit, at),
        came_about=origin,
        measured=False,
    )


def _lane(name: str, ring: Ring, limit: int, at: int, *, now: bool) -> Lane:
    running = min(at, limit * ring.slots)
    filled = -(-running // limit)
    timeline = timeline_of(ring, filled, running)
    verb = "is" if filled == 1 else "are"
    gives = agreeing(f"{running} tokens every {rate(timeline.turn_ms)} ms, {rate(timeline.tokens_per_s)} tok/s")
    return Lane(f"{name}: {filled} of {ring.slots} slots {verb} filled", gives, timeline, now)


def _with_limits(drawn: Curves, priced: Priced, limit: int | None, slots: int, at: int) -> Curves:
    """The limit that was asked for as a band, other limits as lines beside it."""
    loads = [int(load) for load, _ in drawn.now]
    band = [(float(load), *found) for load in loads if (found := priced(limit or load, load)) is not None]
    others = [other for other in _limits(slots, limit, at) if other != limit and other < at]
    lines = [(f"limit {other}", tuple(_line(priced, other, loads))) for other in others]
    return replace(
        drawn,
        band=tuple((load, round(low, 1), round(high, 1)) for load, low, _, high in band),
        band_name=f"limit {limit}" if limit else "no limit in force",
        others=tuple((name, line) for name, line in lines if line),
    )


def _line(priced: Priced, limit: int, loads: Sequence[int]) -> list[Point]:
    return [(float(load), round(found[1], 1)) for load in loads if (found := priced(limit, load)) is not None]


def _cells(priced: Priced, stages: int, slots: int, limit: int | None, at: int) -> tuple[Cell, ...]:
    return tuple(
        Cell(each, load, *(round(value, 1) for value in found))
        for each in _limits(slots, limit, at)
        for load in sorted({1, max(stages // 2, 1), stages, 2 * stages, at})
        if (found := priced(each, load)) is not None
    )


def _limits(slots: int, limit: int | None, at: int) -> list[int]:
    return sorted({1, 2, 4, -(-at // slots), at, limit or at})


def _loads(stages: int, at: int) -> list[int]:
    return thinned(range(1, max(2 * stages, at) + 1), MOST_LOADS)
