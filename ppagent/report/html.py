"""The report as one HTML file: what was found, pictures of it, what to do, and the evidence behind every sentence."""

import re
from collections.abc import Iterator
from html import escape

from ppagent.report.document import Document
from ppagent.report.html_causes import cause_card
from ppagent.report.html_exhibits import exhibit_details, fact_names
from ppagent.report.html_page import page
from ppagent.report.html_pictures import figures, waterfall_figure
from ppagent.report.html_steps import step_card, tiles
from ppagent.report.html_text import notes, said, section, unfolding

_SECTION = re.compile(r'<section id="(\w+)"><h2>([^<]+)</h2>')
_LINKED = re.compile(r'href="#(E\d+)"')


def as_html(document: Document) -> str:
    """The whole page."""
    known = frozenset(exhibit.id for exhibit in document.exhibits)
    body = "".join(_sections(document, known))
    used = frozenset(_LINKED.findall(body))
    evidence = section("evidence", "Evidence", _evidence(document, used))
    footer = f'<footer class="dim">{escape(document.footer)}</footer>'
    top = _top(document, known) + tiles(document.steps, document.figures.came_about)
    return page(document.headline, f"<main>\n{top}{_contents(body + evidence)}{body}{evidence}{footer}\n</main>")


def _contents(sections: str) -> str:
    """Links to the sections that the page has."""
    links = (f'<a href="#{anchor}">{heading}</a>' for anchor, heading in _SECTION.findall(sections))
    return f"<nav>{' '.join(links)}</nav>\n"


def _top(document: Document, known: frozenset[str]) -> str:
    name, *about = document.headline.split(" · ")
    parts = [f'<header class="top"><h1>{escape(name)}</h1><p class="dim">{escape(" · ".join(about))}</p>']
    if document.provenance:
        parts.append(f'<p class="provenance"><b>Provenance</b> {escape(document.provenance)}</p>')
    if document.nodes:
        parts.append(f'<p class="dim">{escape(document.nodes)}</p>')
    if document.question:
        parts.append(f'<blockquote class="question">{escape(document.question)}</blockquote>')
    kind = document.verdict.lower().replace(" ", "-")
    parts.append(
        f'</header><section class="verdict {kind}" id="verdict"><strong>{document.verdict}</strong> '
        f"<span>{said(document.summary, known)}</span></section>"
    )
    return "".join(parts)


def _sections(document: Document, known: frozenset[str]) -> Iterator[str]:
    came_about = document.figures.came_about
    yield section("causes", "Causes", (cause_card(cause, known) for cause in document.causes))
    drawn = (waterfall_figure(document.waterfall, came_about), *figures(document.figures, known))
    yield section("pictures", "Pictures", drawn)
    yield section("steps", "What to do", (step_card(step, known) for step in document.steps))
    yield section("declined", "Not the cure", (notes(document.declined, known),))
    yield section("probes", "Look next", (notes(document.looks, known),))
    more = unfolding(f"and {len(document.also_undecided)} more", notes(document.more_undecided, known))
    yield section("undecided", "Cannot tell", (notes(document.cannot_tell, known), more))
    more = unfolding(f"and {len(document.also_ruled_out)} more", notes(document.more_ruled_out, known))
    yield section("refuted", "Ruled out", (notes(document.ruled_out, known), more))
    yield section("denied", "Denied", (notes(document.denied, known),))
    yield section("missing", "No answer", (notes(document.missing, known),))


def _evidence(document: Document, used: frozenset[str]) -> Iterator[str]:
    if not document.exhibits:
        return
    yield (
        f'<p class="dim">{len(used)} of {len(document.exhibits)} are cited above; the others are dimmed. Secrets are '
        "masked. An excerpt is a piece of the artifact, word for word.</p>"
    )
    for exhibit in document.exhibits:
        yield exhibit_details(exhibit, used)
    yield fact_names(document.exhibits)
