"""From the ceiling down to what was observed: how many tokens a second each cause costs.

Causes interact, so a share depends on the order in which they are taken away. The order is the caller's and is kept:
each step is what its cause costs once the steps before it are paid. Steps always add up to the observed value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

LIMIT, UNEXPLAINED, OBSERVED = "limit", "unexplained", "observed"


@dataclass(frozen=True)
class Step:
    """One bar. `value` is the height of `limit` and `observed`, the change (negative is a loss) of all others."""

    step: str
    value: float
    label: str = ""
    unit: str = "tok/s"


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


def adds_up(steps: Sequence[Step], tolerance: float = 1e-6) -> bool:
    """Whether the steps between the first and the last lead from one to the other."""
    return abs(sum(step.value for step in steps[:-1]) - steps[-1].value) <= tolerance


def rounded(steps: Sequence[Step], digits: int = 1) -> tuple[Step, ...]:
    """The steps rounded for print so that they still add up: the unexplained part takes what rounding leaves."""
    cut = [replace(step, value=round(step.value, digits)) for step in steps]
    rest = cut[-1].value - sum(step.value for step in cut[:-1] if step.step != UNEXPLAINED)
    rest = round(rest, digits) + 0.0  # no negative zero
    return tuple(replace(step, value=rest) if step.step == UNEXPLAINED else step for step in cut)


def draw_waterfall(steps: Sequence[Step], width: int = 40) -> list[str]:
    """The steps as lines of text, bars to scale, readable without colour."""
    top = max(max(step.value for step in steps), 1e-9)
    rows: list[str] = []
    height = 0.0
    for step in rounded(steps):
        whole = step.step in (LIMIT, OBSERVED)
        start, end = (0.0, step.value) if whole else sorted((height, height + step.value))
        height = step.value if whole else height + step.value
        left = round(max(start, 0.0) / top * width)
        length = max(round(max(end, 0.0) / top * width) - left, 0)
        mark = "." if length == 0 and step.value else "#" * length
        label = (step.label or step.step)[:34]
        amount = f"{step.value:8.1f}" if whole else f"{step.value:+8.1f}"
        rows.append(f"{label:<34} {amount} |{' ' * min(left, width - len(mark)) + mark:<{width}}|")
    return rows
