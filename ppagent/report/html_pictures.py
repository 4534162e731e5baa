"""The pictures of a page, each with a caption that says what is measured, what is computed and what is forecast."""

from collections.abc import Callable, Collection, Iterator, Sequence
from html import escape

from ppagent.model.waterfall import Step as Bar
from ppagent.report.html_text import cited
from ppagent.report.pictures.curves import Curves, draw_curves
from ppagent.report.pictures.figures import Figures
from ppagent.report.pictures.power import Power, draw_power
from ppagent.report.pictures.svg import NARROW, WIDE, Picture, inline
from ppagent.report.pictures.timeline import Lane, draw_lanes
from ppagent.report.pictures.waterfall import draw_steps

Draw = Callable[[float], Picture]

WATERFALL_SAYS = (
    "Observed: {came_about}; everything above it is computed. The ceiling is what the bytes of a step allow at peak "
    "bandwidth with every slot filled and all stages alike. Losses are taken away in the order shown, and what one "
    "costs depends on those before it: what curing a cause alone would give stands beside the cause."
)
TIMELINE_SAYS = (
    "A block is one stage taken by one micro-batch, its colour and number the slot; grey is a stage that waits. "
    "Taken is the share of time; launches and hops are inside the blocks, so a device computes for less. "
    "Now: the turn is a figure from the load levels ({came_about}), its split over the stages follows the layers. "
    "{proposed}Requests are taken to be spread evenly and to decode steadily; prefill is left out."
)
PROPOSED_SAYS = "Proposed: a forecast by the ring model, never measured. "
CURVES_SAYS = (
    "Points: {came_about}. The dashed line is the ring model's fit under the least fill that the evidence allows, "
    "carried on beyond the last point."
)
POWER_SAYS = (
    "{came_about}: thin lines are single GPUs, the shade their range, the bold line their mean; between samples "
    "nothing is known. A stage that waits in a receive kernel counts as utilised in nvidia-smi and still draws little, "
    "so power tells work from waiting."
)


def waterfall_figure(bars: Sequence[Bar], came_about: str) -> str:
    """Where the speed goes."""
    if not bars:
        return ""
    caption = WATERFALL_SAYS.format(came_about=came_about)
    return _figure(f"Where the speed goes, {bars[0].unit}", lambda width: draw_steps(bars, width), caption)


def figures(shown: Figures, known: Collection[str]) -> Iterator[str]:
    """Timelines, tok/s over load, power over time: those there are."""
    if shown.lanes:
        yield timeline_figure(shown.lanes, shown.came_about, shown.fill_said, cited(shown.lane_cites, known))
    if shown.curves is not None:
        yield curves_figure(shown.curves, shown.came_about, cited(shown.curve_cites, known))
    for power in shown.power:
        yield _power(power, shown.came_about, cited(shown.power_cites, known))


def timeline_figure(lanes: Sequence[Lane], came_about: str, fill_said: str = "", cites: str = "") -> str:
    """Which stage works when, as it is and as proposed."""
    proposed = "" if all(lane.now for lane in lanes) else PROPOSED_SAYS
    caption = TIMELINE_SAYS.format(came_about=came_about, proposed=proposed)
    caption += f" Filled slots now, by reading: {fill_said}." if fill_said else ""
    return _figure("Which stage works when", lambda width: draw_lanes(lanes, width), caption, cites)


def curves_figure(curves: Curves, came_about: str, cites: str = "") -> str:
    """tok/s against requests in flight."""
    caption = CURVES_SAYS.format(came_about=came_about)
    caption += " Green is forecast and was never measured." if curves.band or curves.marks else ""
    if curves.marks:
        loads = ", ".join(f"{mark.name} at {mark.at:g}" for mark in curves.marks)
        caption += f" Upright marks stand a little to the right of the load they are forecast for: {loads}."
    return _figure("Tokens a second by load", lambda width: draw_curves(curves, width), caption, cites)


def _power(power: Power, came_about: str, cites: str) -> str:
    caption = f"{power.says}. {POWER_SAYS.format(came_about=came_about.capitalize())}"
    heading = f"GPU power against its limit{f', {power.host}' if power.host else ''}"
    return _figure(heading, lambda width: draw_power(power, width), caption, cites)


def _figure(heading: str, draw: Draw, caption: str, cites: str = "") -> str:
    """Drawn twice, for a wide and for a narrow screen; the style shows the one that fits."""
    drawn = "".join(
        inline(Picture(p.width, p.height, p.body, p.says, css))
        for p, css in ((draw(WIDE), "wide"), (draw(NARROW), "narrow"))
    )
    return f"<figure><h3>{escape(heading)}</h3>{drawn}<figcaption>{escape(caption)} {cites}</figcaption></figure>"
