"""The chart of tok/s over load in plain characters, for a terminal: readable without colour."""

import textwrap
from collections.abc import Iterator, Sequence

from ppagent.report.pictures.axis import rounded_up, ticks
from ppagent.report.pictures.curves import Curves, Point

LEFT = 7
"""Columns for the figures on the left and the axis."""
POINT, NOW, BAND = "*", "-", ":"
LETTERS = "abcdefgh"


def chart(curves: Curves, columns: int = 80, rows: int = 16) -> list[str]:
    """The chart and under it what its characters mean."""
    top = rounded_up(curves.highest * 1.02)
    marks = ticks(0, top, 5)
    left = max(LEFT, 2 + max(len(f"{value:g}") for value in marks))
    grid = [[" "] * (columns - left - 1) for _ in range(rows)]
    plot = _Plot(grid, curves.farthest, top)
    plot.fill(curves.band)
    for (_, points), letter in zip(curves.others, LETTERS, strict=False):
        plot.line(points, letter)
    plot.line(curves.now, NOW)
    for x, y in curves.points:
        grid[plot.row(y)][plot.column(x)] = POINT
    named = {plot.row(value): f"{value:g}" for value in marks}
    lines = [f"{named.get(row, ''):>{left - 2}} |{''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    return [*lines, *_across(plot, curves.farthest, left, len(grid[0])), *_legend(curves, columns)]


class _Plot:
    """Where quantities lie on the grid."""

    def __init__(self, grid: list[list[str]], farthest: float, top: float) -> None:
        self._grid, self._farthest, self._top = grid, farthest, top
        self._last_row, self._last_column = len(grid) - 1, len(grid[0]) - 1

    def row(self, value: float) -> int:
        return self._last_row - round(min(value / self._top, 1.0) * self._last_row)

    def column(self, load: float) -> int:
        return round(load / self._farthest * self._last_column)

    def line(self, points: Sequence[Point], mark: str) -> None:
        for column, value in self._between(points):
            self._grid[self.row(value)][column] = mark

    def fill(self, band: Sequence[tuple[float, float, float]]) -> None:
        lows = self._between([(load, low) for load, low, _ in band])
        highs = self._between([(load, high) for load, _, high in band])
        for (column, low), (_, high) in zip(lows, highs, strict=True):
            for row in range(self.row(high), self.row(low) + 1):
                self._grid[row][column] = BAND

    def _between(self, points: Sequence[Point]) -> Iterator[tuple[int, float]]:
        """A value for every column from the first point to the last."""
        for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False):
            first, last = self.column(x1), self.column(x2)
            for column in range(first, last + 1):
                share = (column - first) / (last - first) if last > first else 0.0
                yield column, y1 + share * (y2 - y1)


def _across(plot: _Plot, farthest: float, left: int, width: int) -> list[str]:
    """The axis and the loads along it."""
    axis, names = ["-"] * width, [" "] * width
    for value in ticks(0, farthest, min(9, width // 8)):
        column, name = plot.column(value), f"{value:g}"
        axis[column] = "+"
        begin = min(column, width - len(name))
        names[begin : begin + len(name)] = name
    title = "requests in flight"
    blank = " " * (left - 1)
    return [f"{blank}+{''.join(axis)}", f"{blank} {''.join(names)}".rstrip(), f"{blank} {title:>{width}}"]


def _legend(curves: Curves, columns: int) -> list[str]:
    entries = [f"{POINT} {curves.points_name}"] if curves.points else []
    entries += [f"{NOW} as it is"] if curves.now else []
    entries += [f"{BAND} forecast, {curves.band_name}"] if curves.band else []
    entries += [f"{letter} {name}" for (name, _), letter in zip(curves.others, LETTERS, strict=False)]
    lines = [""]
    for entry in entries:
        room = len(lines[-1]) + len(entry) + 3 <= columns - LEFT
        lines = [*lines[:-1], f"{lines[-1]}   {entry}".strip()] if room else [*lines, entry]
    return [row for line in lines for row in _hung(line, columns)]


def _hung(entry: str, columns: int) -> list[str]:
    """A row of the legend; one entry that is too long for a row goes on under its words."""
    left = " " * LEFT
    return textwrap.wrap(entry, columns, initial_indent=left, subsequent_indent=f"{left}  ")
