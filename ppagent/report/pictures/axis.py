"""Scales of a chart: from a quantity to pixels, and the round values to name on the way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.report.pictures.svg import line, text

SMALLEST = 1e-12
"""A span below this is none."""


@dataclass(frozen=True)
class Scale:
    """Linear from `low`..`high` to the pixels `start`..`end`."""

    low: float
    high: float
    start: float
    end: float

    def px(self, value: float) -> float:
        """Where `value` lies; values beyond the scale lie at its ends."""
        span = self.high - self.low
        share = 0.0 if span <= 0 else min(1.0, max(0.0, (value - self.low) / span))
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values from `low` to `high`, at most `most` of them, in steps of 1, 2 or 5 times a power of ten."""
    span = high - low
    if span < SMALLEST or not math.isfinite(span):
        return [low]
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, math.floor(high / step + 1e-9) + 1)]


def rounded_up(value: float, most: int = 6) -> float:
    """The first tick at or above `value`, for the end of a scale."""
    if value < SMALLEST or not math.isfinite(value):
        return 1.0
    marks = ticks(0.0, value, most)
    step = marks[1] - marks[0] if len(marks) > 1 else value
    return math.ceil(value / step - 1e-9) * step


def frame(across: Scale, up: Scale, x_marks: Sequence[float], x_name: str, y_name: str) -> str:
    """The grid, the figures along both axes and what they count."""
    left, right, bottom = across.start, across.end, up.start
    parts = []
    for value in ticks(up.low, up.high):
        y = up.px(value)
        parts.append(line(left, y, right, y, "grid"))
        parts.append(text(left - 6, y + 4, f"{value:g}", "tick", "end"))
    for value in x_marks:
        x = across.px(value)
        parts.append(line(x, bottom, x, bottom + 4, "axis"))
        parts.append(text(x, bottom + 17, f"{value:g}", "tick", "middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    parts.append(text(right, bottom + 33, x_name, "tick", "end"))
    parts.append(text(left - 30, up.end - 12, y_name, "tick"))
    return "".join(parts)
