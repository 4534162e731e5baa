"""The answer of `ppagent predict` to look at: one page, or one SVG file."""

import textwrap
from collections.abc import Iterator
from html import escape

from ppagent.changes.shapes import SOURCE, Shapes
from ppagent.cli.predict_answer import Answer
from ppagent.cli.predict_table import BOUND, shape_rows, shapes_heading
from ppagent.cli.predict_view import lanes_caption
from ppagent.report.html_page import page
from ppagent.report.html_pictures import CURVES_HEADING, LANES_HEADING, figure
from ppagent.report.html_text import section
from ppagent.report.pictures.captions import curves_caption
from ppagent.report.pictures.curves import draw_curves
from ppagent.report.pictures.svg import WIDE, standalone
from ppagent.report.pictures.timeline import draw_lanes
from ppagent.report.plain import plain

CAPTION_COLUMNS = 132
FOOTER = "The pipeline model alone: nothing was measured, asked or changed for this page."


def as_page(answer: Answer) -> str:
    """The whole page."""
    return page(plain(answer.title), f"<main>\n{''.join(_parts(answer))}</main>", script=False)


def as_svg(answer: Answer) -> str:
    """Chart and timelines with their captions as one SVG file."""
    forecast = answer.forecast
    claim = (
        f"{plain(answer.title)}. At C={forecast.at_concurrency}: {forecast.low:.1f} to {forecast.high:.1f} tok/s, "
        f"now {forecast.baseline:.1f}: {forecast.effect}. {forecast.regime}"
    )
    chart = curves_caption(answer.curves, answer.came_about)
    pictures = [
        (CURVES_HEADING, draw_curves(answer.curves, WIDE), textwrap.wrap(f"{claim}. {chart}", CAPTION_COLUMNS)),
        (LANES_HEADING, draw_lanes(answer.lanes, WIDE), textwrap.wrap(lanes_caption(answer), CAPTION_COLUMNS)),
    ]
    return standalone(pictures) + "\n"


def _parts(answer: Answer) -> Iterator[str]:
    forecast = answer.forecast
    at = forecast.at_concurrency
    yield f'<header class="top"><h1>What if</h1><p class="dim">{escape(plain(answer.title))}</p></header>'
    yield (
        f'<section class="verdict forecast" id="verdict"><strong>FORECAST</strong> at C={at}: {forecast.low:.1f} to '
        f"{forecast.high:.1f} tok/s, now {forecast.baseline:.1f}: {escape(str(forecast.effect))}."
        f"{f'<p>{escape(answer.untold)}.</p>' if answer.untold else ''}"
        f'<p class="dim">{escape(forecast.regime)}</p></section>'
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in forecast.assumptions)
    yield section("assumes", "What it assumes", (f'<ul class="notes">{notes}</ul>',)) if notes else ""
    chart = curves_caption(answer.curves, answer.came_about)
    drawn = (
        figure(CURVES_HEADING, lambda width: draw_curves(answer.curves, width), chart),
        figure(LANES_HEADING, lambda width: draw_lanes(answer.lanes, width), lanes_caption(answer)),
    )
    yield section("pictures", "Pictures", drawn)
    yield section("table", "tok/s by slot limit and requests in flight", (_table(answer),))
    yield _shapes(answer.shapes) if answer.shapes is not None else ""
    record = f" {escape(answer.record)}." if answer.record else ""
    yield f'<footer class="dim">{FOOTER}{record}</footer>'


def _shapes(shapes: Shapes) -> str:
    """Other shapes of the cards, or why they are not priced."""
    if shapes.lacking:
        return section("shapes", "Other shapes", (f'<p class="dim">Not priced: {escape(shapes.lacking)}.</p>',))
    head, *rows = shape_rows(shapes)
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(value)}</td>' for value in values)}</tr>"
        for name, *values in rows
    )
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    table = f'<table class="grid"><tr>{top}</tr>{body}</table><p class="dim">{escape(SOURCE)}.</p>'
    return section("shapes", f"{shapes_heading(shapes)}; {BOUND}", (table,))


def _table(answer: Answer) -> str:
    """Middle and range of every forecast."""
    loads = sorted({cell.load for cell in answer.cells})
    cells = {(cell.limit, cell.load): cell for cell in answer.cells}
    head = "".join(f"<th>C={load}</th>" for load in loads)
    rows = []
    for limit in sorted({cell.limit for cell in answer.cells}):
        found = (cells.get((limit, load)) for load in loads)
        row = "".join(f"<td>{_cell(cell.low, cell.middle, cell.high) if cell else '?'}</td>" for cell in found)
        rows.append(f"<tr><th>limit {limit}</th>{row}</tr>")
    return f'<table class="grid"><tr><th></th>{head}</tr>{"".join(rows)}</table>'


def _cell(low: float, middle: float, high: float) -> str:
    span = "" if low == high else f' <span class="dim">{low:g}–{high:g}</span>'
    return f"{middle:g}{span}"
