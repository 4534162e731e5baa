"""tok/s against requests in flight: what was measured, what the ring model carries on, what a change is forecast."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.report.pictures.axis import Scale, frame, rounded_up, ticks
from ppagent.report.pictures.svg import Picture, dot, line, polygon, polyline, rect, text, width_of

HEIGHT = 320.0
LEFT, ABOVE, BELOW = 48.0, 30.0, 44.0

Point = tuple[float, float]
"""Requests in flight, tok/s."""


@dataclass(frozen=True)
class Range:
    """A forecast at one load."""

    name: str
    at: float
    low: float
    high: float


@dataclass(frozen=True)
class Curves:
    """`points` as measured, `now` the ring as it is, `band` (requests in flight, low, high) with one change, `marks`
    forecasts of other changes at one load, `others` the middles of forecasts under a name each."""

    points: tuple[Point, ...]
    points_name: str
    now: tuple[Point, ...] = ()
    band: tuple[tuple[float, float, float], ...] = ()
    band_name: str = ""
    marks: tuple[Range, ...] = ()
    others: tuple[tuple[str, tuple[Point, ...]], ...] = ()

    @property
    def worth_drawing(self) -> bool:
        """A single point by itself is a sentence, not a chart."""
        return len(self.points) > 1 or bool(self.now or self.band or self.marks)

    @property
    def farthest(self) -> float:
        loads = [at for at, _ in self._lines()] + [at for at, _, _ in self.band]
        return max([*loads, *(mark.at for mark in self.marks)])

    @property
    def highest(self) -> float:
        values = [value for _, value in self._lines()] + [high for _, _, high in self.band]
        return max([*values, *(mark.high for mark in self.marks)])

    def _lines(self) -> tuple[Point, ...]:
        return (*self.points, *self.now, *(point for _, points in self.others for point in points))


def draw_curves(curves: Curves, width: float) -> Picture:
    """The chart with its legend above; names stand in the drawing where there is one of a kind."""
    top = rounded_up(curves.highest * 1.05)
    across = Scale(0, curves.farthest * 1.04, LEFT, width - 12)
    legend, rows = _legend(curves, width)
    above = ABOVE + 18 * rows
    up = Scale(0, top, HEIGHT + 18 * rows - BELOW, above)
    most = 6 if width < 500 else 10
    parts = [legend, frame(across, up, ticks(0, curves.farthest, most), "requests in flight", "tok/s")]
    if curves.band:
        parts.append(_band(curves, across, up))
    parts += _others(curves.others, across, up)
    if curves.now:
        parts.append(polyline([(across.px(x), up.px(y)) for x, y in curves.now], "l-now dashed"))
    parts += [_mark(mark, index, across, up) for index, mark in enumerate(curves.marks)]
    parts += _points(curves.points, across, up)
    return Picture(width, HEIGHT + 18 * rows, "".join(parts), _says(curves))


def _points(points: Sequence[Point], across: Scale, up: Scale) -> list[str]:
    """Each point with its figure; where figures would lie over each other, the one at the higher load is written."""
    parts: list[str] = []
    free = float("inf")
    for x, y in reversed(points):
        figure, at, height = f"{y:g}", across.px(x), up.px(y)
        parts.append(dot(at, height, 4.5, "f-now", f"{figure} tok/s at {x:g}"))
        half = width_of(figure) / 2 + 3
        if at + half <= free:
            below = height + 18 < up.start - 2
            parts.append(text(at, height + (18 if below else -9), figure, "t-now", "middle"))
            free = at - half
    return parts


def _band(curves: Curves, across: Scale, up: Scale) -> str:
    low = [(across.px(x), up.px(y)) for x, y, _ in curves.band]
    high = [(across.px(x), up.px(y)) for x, _, y in curves.band]
    return polygon([*low, *reversed(high)], "band") + polyline(low, "l-then") + polyline(high, "l-then")


def _others(others: Sequence[tuple[str, tuple[Point, ...]]], across: Scale, up: Scale) -> list[str]:
    """Thin lines, each with its name at its end; names that would lie over each other move up."""
    parts: list[str] = []
    free = up.start
    for name, points in sorted(others, key=lambda other: other[1][-1][1]):
        drawn = [(across.px(x), up.px(y)) for x, y in points]
        x, y = drawn[-1]
        free = min(y - 5, free - 14)
        parts.append(polyline(drawn, "l-other") + text(x - 4, free, name, "tick", "end"))
    return parts


def _mark(mark: Range, index: int, across: Scale, up: Scale) -> str:
    """An upright range with its name; several at one load stand side by side."""
    x = across.px(mark.at) + 16 + 30 * index
    y1, y2 = up.px(mark.high), up.px(mark.low)
    name = text(x, y1 - 6, mark.name, "t-then", "middle")
    hint = f"{mark.name}: {mark.low:g} to {mark.high:g} tok/s"
    return rect(x - 5, y1, 10, max(y2 - y1, 3), "f-then", hint, 2) + name


def _legend(curves: Curves, width: float) -> tuple[str, int]:
    """What is drawn, in rows from the top; how many rows it took."""
    entries: list[tuple[str, str]] = [("point", curves.points_name)] if curves.points else []
    if curves.now:
        entries.append(("now", "ring model, as it is" if curves.points else "all in one slot"))
    if curves.band:
        entries.append(("band", f"forecast, {curves.band_name}"))
    if curves.marks:
        entries.append(("mark", f"forecast, {', '.join(mark.name for mark in curves.marks)}"))
    x, row = 0.0, 0
    parts: list[str] = []
    for kind, name in entries:
        room = 28 + width_of(name) + 18
        if x and x + room > width:
            x, row = 0.0, row + 1
        y = 10.0 + 18 * row
        parts.append(_key(kind, x, y) + text(x + 28, y + 4, name, "dim"))
        x += room
    return "".join(parts), row + 1


def _key(kind: str, x: float, y: float) -> str:
    match kind:
        case "point":
            return dot(x + 11, y, 4.5, "f-now")
        case "now":
            return line(x, y, x + 22, y, "l-now dashed")
        case "band":
            return rect(x, y - 6, 22, 12, "band") + line(x, y - 6, x + 22, y - 6, "l-then")
        case _:
            return rect(x + 6, y - 7, 10, 14, "f-then", radius=2)


def _says(curves: Curves) -> str:
    said = [f"{y:g} tok/s at {x:g} requests in flight" for x, y in curves.points]
    said += [f"{mark.name} forecast {mark.low:g} to {mark.high:g} at {mark.at:g}" for mark in curves.marks]
    if curves.band:
        at, low, high = max(curves.band, key=lambda entry: entry[2])
        said.append(f"{curves.band_name} forecast up to {low:.0f} to {high:.0f} at {at:g}")
    return "Tokens a second against requests in flight: " + ", ".join(said)


def thinned(loads: Sequence[int], most: int = 40) -> list[int]:
    """At most `most` of these loads, both ends among them."""
    if len(loads) <= most:
        return list(loads)
    return sorted({loads[round(step * (len(loads) - 1) / (most - 1))] for step in range(most)})
