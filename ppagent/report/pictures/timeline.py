"""Which stage works on which micro-batch: several settings of one ring, one above the other on one time axis."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.timeline import Timeline
from ppagent.report.pictures.axis import Scale, ticks
from ppagent.report.pictures.svg import NARROW, TEXT_PX, Picture, element, line, number, rect, text, width_of

COLOURS = 8
DIGIT_FITS_PX = 11.0
SHORTEST_PX = 0.3
"""A block cut to less by the edge of the drawing is left out."""
LEFT, RIGHT = 52.0, 42.0
ABOVE, BELOW = 46.0, 24.0


@dataclass(frozen=True)
class Lane:
    """One setting: what it is, what it gives, and its timeline. `now` lanes are as it is, the others proposed."""

    name: str
    gives: str
    timeline: Timeline
    now: bool


def draw_lanes(lanes: Sequence[Lane], width: float) -> Picture:
    """All lanes over the same time: two of the longest turns, or little more than one where there is little room."""
    turns = 1.25 if width <= NARROW else 2.0
    span_ms = turns * max(lane.timeline.turn_ms for lane in lanes)
    across = Scale(0, span_ms, LEFT, width - RIGHT)
    y = 0.0
    parts: list[str] = []
    for lane in lanes:
        drawn, height = _lane(lane, across, width)
        parts.append(element("g", drawn, transform=f"translate(0,{number(y)})"))
        y += height
    parts.append(_time_axis(across, y - BELOW + 10))
    says = "; ".join(f"{lane.name}: {lane.gives}" for lane in lanes)
    return Picture(width, y + 14, "".join(parts), f"Stages at work over {span_ms:.0f} ms. {says}")


def _lane(lane: Lane, across: Scale, width: float) -> tuple[str, float]:
    shown = lane.timeline
    row = 16.0 if len(shown.pass_ms) <= 12 else 9.0
    tone = "t-now" if lane.now else "t-then"
    parts = _heading(lane, width, tone)
    for stage, busy in enumerate(shown.busy):
        y = ABOVE + stage * row
        parts.append(rect(across.start, y, across.end - across.start, row - 2, "idle"))
        if row > 10 or stage % 4 == 0:
            parts.append(text(0, y + row - 5, f"stage {stage}", "tick"))
            parts.append(text(width, y + row - 5, f"{busy:.0%}", "tick", "end"))
    parts.append(text(width, ABOVE - 6, "taken", "tick", "end"))
    parts += _blocks(shown, across, row)
    parts.append(_turn(shown.turn_ms, across))
    return "".join(parts), ABOVE + len(shown.pass_ms) * row + BELOW


def _heading(lane: Lane, width: float, tone: str) -> list[str]:
    if width_of(lane.name + lane.gives) + 24 < width:
        return [text(0, 13, lane.name, tone), text(width, 13, lane.gives, "strong", "end")]
    fits = 1.08 * width_of(lane.gives) < width
    return [text(0, 13, lane.name, tone), text(0, 27, lane.gives, "strong" if fits else "tick")]


def _blocks(shown: Timeline, across: Scale, row: float) -> list[str]:
    """One path a slot, so that a page with many passes stays small, and the slot's number where it fits."""
    paths: dict[int, list[str]] = defaultdict(list)
    digits: list[str] = []
    for each in shown.passes(across.high):
        x, end = across.px(each.start_ms), across.px(each.end_ms)
        if end - x < SHORTEST_PX:
            continue
        y = ABOVE + each.stage * row
        paths[each.slot].append(
            f"M{number(x)} {number(y)}h{number(max(end - x - 0.7, 0.5))}v{number(row - 2)}H{number(x)}z"
        )
        if end - x >= DIGIT_FITS_PX and row > TEXT_PX:
            digits.append(text((x + end) / 2, y + row - 5, str(each.slot), "slot"))
    drawn = [element("path", d="".join(pieces), css=f"s{slot % COLOURS}") for slot, pieces in sorted(paths.items())]
    return drawn + digits


def _turn(turn_ms: float, across: Scale) -> str:
    """A bracket over one turn of the ring."""
    x1, x2, y = across.start, across.px(turn_ms), ABOVE - 8
    said = f"one turn {turn_ms:.3g} ms"
    bracket = line(x1, y, x2, y, "axis") + line(x1, y - 3, x1, y + 3, "axis") + line(x2, y - 3, x2, y + 3, "axis")
    if width_of(said, 11) + 12 < x2 - x1:
        middle = (x1 + x2) / 2
        half = width_of(said, 11) / 2 + 4
        return bracket + rect(middle - half, y - 7, 2 * half, 14, "paper") + text(middle, y + 4, said, "tick", "middle")
    return bracket + text(x2 + 6, y + 4, said, "tick")


def _time_axis(across: Scale, y: float) -> str:
    parts = [line(across.start, y - 6, across.end, y - 6, "axis")]
    for value in ticks(0, across.high, 7):
        x = across.px(value)
        parts.append(line(x, y - 6, x, y - 2, "axis"))
        parts.append(text(x, y + 10, f"{value:g} ms" if value else "0", "tick", "middle"))
    return "".join(parts)
