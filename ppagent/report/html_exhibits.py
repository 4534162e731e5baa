"""The evidence at the end of a page, to unfold; every citation leads here."""

from collections.abc import Collection, Sequence
from html import escape

from ppagent.report.exhibits import Exhibit, FactRow, glossary
from ppagent.report.html_text import unfolding

SHOWN_FOLDED = 90


def exhibit_details(exhibit: Exhibit, used: Collection[str]) -> str:
    """One piece of evidence. The anchor lies inside, so that a browser unfolds it when a citation leads there."""
    mark = "" if exhibit.id in used else ' class="unused"'
    excerpt = f'<pre class="excerpt">{escape(exhibit.excerpt)}</pre>' if exhibit.excerpt else ""
    rows = "".join(_row(fact) for fact in exhibit.facts)
    return (
        f'<details{mark}><summary><b class="id">{escape(exhibit.id)}</b> {escape(exhibit.source)} '
        f'<span class="dim">by {escape(exhibit.tool)}</span> {_first_words(exhibit.excerpt)}</summary>'
        f'<div class="exhibit" id="{escape(exhibit.id)}">{excerpt}<table>{rows}</table></div></details>\n'
    )


def fact_names(exhibits: Sequence[Exhibit]) -> str:
    """What the facts' names mean, to unfold."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(means)}</td></tr>" for name, means in glossary(exhibits))
    return unfolding("What the names of facts mean", f"<table>{rows}</table>" if rows else "")


def _first_words(excerpt: str) -> str:
    """The start of the excerpt, as a hint of what is inside."""
    words = " ".join(excerpt.split())[:SHOWN_FOLDED]
    return f"<code>{escape(words)}</code>" if words else ""


def _row(fact: FactRow) -> str:
    cut = f'<span class="dim"> (cut: {fact.cut} characters in all)</span>' if fact.cut else ""
    return f"<tr><th>{escape(fact.name)}</th><td>{escape(fact.value)}{cut}</td></tr>"
