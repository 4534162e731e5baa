"""The pictures of a page, each with its caption."""

from collections.abc import Callable, Collection, Iterator, Sequence
from html import escape

from ppagent.model.waterfall import Step as Bar
from ppagent.report.html_text import cited
from ppagent.report.pictures.captions import curves_caption, power_caption, timeline_caption, waterfall_caption
from ppagent.report.pictures.curves import draw_curves
from ppagent.report.pictures.figures import Figures
from ppagent.report.pictures.power import Power, draw_power
from ppagent.report.pictures.svg import NARROW, WIDE, Picture, inline
from ppagent.report.pictures.timeline import draw_lanes
from ppagent.report.pictures.waterfall import draw_steps

LANES_HEADING = "Which stage works when"
CURVES_HEADING = "Tokens a second by load"

Draw = Callable[[float], Picture]


def waterfall_figure(bars: Sequence[Bar], came_about: str) -> str:
    """Where the speed goes."""
    if not bars:
        return ""
    heading = f"Where the speed goes, {bars[0].unit}"
    return figure(heading, lambda width: draw_steps(bars, width), waterfall_caption(came_about))


def figures(shown: Figures, known: Collection[str]) -> Iterator[str]:
    """Timelines, tok/s over load, power over time: those there are."""
    came_about = shown.came_about
    if shown.lanes:
        caption = timeline_caption(shown.lanes, came_about, shown.fill_said, shown.divided_by)
        yield figure(
            LANES_HEADING, lambda width: draw_lanes(shown.lanes, width), caption, cited(shown.lane_cites, known)
        )
    curves = shown.curves
    if curves is not None:
        caption = curves_caption(curves, came_about)
        yield figure(CURVES_HEADING, lambda width: draw_curves(curves, width), caption, cited(shown.curve_cites, known))
    for power in shown.power:
        yield _power(power, came_about, cited(power.cites, known))


def _power(power: Power, came_about: str, cites: str) -> str:
    heading = f"GPU power against its limit{f', {power.host}' if power.host else ''}"
    return figure(heading, lambda width: draw_power(power, width), power_caption(power, came_about), cites)


def figure(heading: str, draw: Draw, caption: str, cites: str = "") -> str:
    """Drawn twice, for a wide and for a narrow screen; the style shows the one that fits. `cites` is markup."""
    drawn = "".join(
        inline(Picture(p.width, p.height, p.body, p.says, css))
        for p, css in ((draw(WIDE), "wide"), (draw(NARROW), "narrow"))
    )
    return f"<figure><h3>{escape(heading)}</h3>{drawn}<figcaption>{escape(caption)} {cites}</figcaption></figure>"
