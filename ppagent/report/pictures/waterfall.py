"""From the ceiling down to what was observed, as bars to scale."""

from collections.abc import Sequence

from ppagent.model.waterfall import LIMIT, OBSERVED, UNEXPLAINED, Step, rounded, spans
from ppagent.report.pictures.axis import Scale
from ppagent.report.pictures.svg import NARROW, Picture, line, rect, text, width_of

BAR = 22.0
VALUE_ROOM = 62.0
_FILLS = {LIMIT: "f-limit", OBSERVED: "f-now", UNEXPLAINED: "f-rest"}


def draw_steps(steps: Sequence[Step], width: float) -> Picture:
    """The steps from top to bottom; labels beside the bars, or above them where there is little room."""
    steps = rounded(steps)
    beside = width > NARROW
    left = min(0.4 * width, 16 + max(width_of(_label(step)) for step in steps)) if beside else 0.0
    pitch, drop = (34.0, 6.0) if beside else (46.0, 20.0)
    top = max(max(step.value for step in steps), 1e-9)
    across = Scale(0, top, left, width - VALUE_ROOM)
    parts: list[str] = []
    for index, (step, (low, high)) in enumerate(zip(steps, spans(steps), strict=True)):
        y = index * pitch + drop
        parts.append(_bar(step, across.px(low), across.px(high), y))
        parts.append(text(0, y + 15 if beside else y - 6, _label(step), _tone(step)))
        if beside and index + 1 < len(steps):
            height = low if step.step not in (LIMIT, OBSERVED) else high
            x = across.px(height)
            parts.append(line(x, y + BAR, x, y + pitch, "join"))
    said = ", ".join(f"{_label(step)} {_amount(step)}" for step in steps)
    return Picture(width, len(steps) * pitch + 4, "".join(parts), f"Waterfall in {steps[0].unit}: {said}")


def _bar(step: Step, x1: float, x2: float, y: float) -> str:
    css = _FILLS.get(step.step, "f-loss" if step.value <= 0 else "f-then")
    amount = text(x2 + 6, y + 15, _amount(step), "strong")
    if not step.value:
        return amount
    return rect(x1, y, max(x2 - x1, 1.0), BAR, css, radius=2) + amount


def _label(step: Step) -> str:
    """A blamed cause's id and what it costs; the others, the ends and the rest under their own names."""
    named = step.label or step.step
    return named if step.step in _FILLS or not step.blamed else f"{step.step} {named}"


def _amount(step: Step) -> str:
    if step.step in (LIMIT, OBSERVED) or not step.value:
        return f"{step.value:.1f}"
    return f"{step.value:+.1f}".replace("-", "−")


def _tone(step: Step) -> str:
    return "strong" if step.step in (LIMIT, OBSERVED) else ""
