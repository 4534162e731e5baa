"""From the ceiling down to what was observed: how many tokens a second each cause costs.

Causes interact, so a share depends on the order in which they are taken away. The order is the caller's and is kept:
each step is what its cause costs once the steps before it are paid. Steps always add up to the observed value.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

LIMIT, UNEXPLAINED, OBSERVED = "limit", "unexplained", "observed"

WIDEST_LABEL = 42
NARROWEST_BAR = 12
_AROUND_BAR = 12
"""Columns of a row that are neither label nor bar: the figure, the frame, the spaces between."""


@dataclass(frozen=True)
class Step:
    """One bar. `value` is the height of `limit` and `observed`, the change (negative is a loss) of all others. A cause
    that is not `blamed` takes its share and is not what is wrong."""

    step: str
    value: float
    label: str = ""
    unit: str = "tok/s"
    blamed: bool = True


@dataclass(frozen=True)
class Level:
    """Throughput once `cause` is in place on top of all before it."""

    cause: str
    tokens_per_s: float
    label: str = ""


def build_waterfall(limit: float, causes: Sequence[Level], observed: float) -> tuple[Step, ...]:
    """Steps from `limit` through `causes` in their order to `observed`; what they leave over is unexplained."""
    steps = [Step(LIMIT, limit, "ceiling")]
    height = limit
    for level in causes:
        steps.append(Step(level.cause, level.tokens_per_s - height, level.label))
        height = level.tokens_per_s
    steps.append(Step(UNEXPLAINED, observed - height))
    return (*steps, Step(OBSERVED, observed))


def rounded(steps: Sequence[Step], digits: int = 1) -> tuple[Step, ...]:
    """The steps rounded for print so that they still add up: the unexplained part takes what rounding leaves."""
    cut = [replace(step, value=round(step.value, digits) + 0.0) for step in steps]  # no negative zero
    rest = cut[-1].value - sum(step.value for step in cut[:-1] if step.step != UNEXPLAINED)
    rest = round(rest, digits) + 0.0  # no negative zero
    return tuple(replace(step, value=rest) if step.step == UNEXPLAINED else step for step in cut)


def draw_waterfall(steps: Sequence[Step], columns: int = 80) -> list[str]:
    """The steps as lines of text of up to `columns` characters, bars to scale, readable without colour.

    A label that is longer than `WIDEST_LABEL`, or than there is room for, goes on over lines of its own, never cut.
    """
    steps = rounded(steps)
    top = max(max(step.value for step in steps), 1e-9)
    room = max(columns - _AROUND_BAR - NARROWEST_BAR, NARROWEST_BAR)
    label_width = min(max(len(step.label or step.step) for step in steps), WIDEST_LABEL, room)
    bar_width = max(columns - label_width - _AROUND_BAR, NARROWEST_BAR)
    rows: list[str] = []
    for step, (start, end) in zip(steps, spans(steps), strict=True):
        left = round(max(start, 0.0) / top * bar_width)
        length = max(round(max(end, 0.0) / top * bar_width) - left, 0)
        mark = "." if length == 0 and step.value else "#" * length
        signed = step.value and step.step not in (LIMIT, OBSERVED)
        amount = f"{step.value:+8.1f}" if signed else f"{step.value:8.1f}"
        first, *more = textwrap.wrap(step.label or step.step, label_width) or [""]
        bar = " " * min(left, bar_width - len(mark)) + mark
        rows.append(f"{first:<{label_width}} {amount} |{bar:<{bar_width}}|")
        rows += [f"{line:<{label_width}} {'':8} |{'':<{bar_width}}|" for line in more]
    return rows


def spans(steps: Sequence[Step]) -> tuple[tuple[float, float], ...]:
    """Where each bar lies, from its lower to its upper end: `limit` and `observed` stand on the ground, the others
    hang between the height before them and the height after them."""
    found: list[tuple[float, float]] = []
    height = 0.0
    for step in steps:
        before = 0.0 if step.step in (LIMIT, OBSERVED) else height
        height = before + step.value
        found.append((min(before, height), max(before, height)))
    return tuple(found)
