"""Text of a page: escaped, with a link from every citation to its evidence."""

import re
from collections.abc import Collection, Iterable, Sequence
from html import escape

from ppagent.report.document import Note
from ppagent.report.pictures.svg import element

_CITATION = re.compile(r"\[(E\d+(?: E\d+)*)\]")


def said(text: str, known: Collection[str]) -> str:
    """`text` escaped, the citations in it linked where that evidence is on the page."""
    return _CITATION.sub(lambda found: cited(found[1].split(), known), escape(text))


def cited(ids: Sequence[str], known: Collection[str]) -> str:
    """The ids in brackets, each a link to its evidence; nothing without ids."""
    if not ids:
        return ""
    links = (element("a", escape(i), href=f"#{i}") if i in known else escape(i) for i in ids)
    return f'<span class="cites">[{" ".join(links)}]</span>'


def with_cites(text: str, ids: Sequence[str], known: Collection[str]) -> str:
    """A statement and what it stands on."""
    return f"{said(text, known)} {cited(ids, known)}".rstrip()


def section(anchor: str, heading: str, parts: Iterable[str]) -> str:
    """A part of the page with its heading; nothing where it holds nothing."""
    body = "".join(parts)
    return f'<section id="{anchor}"><h2>{escape(heading)}</h2>{body}</section>\n' if body else ""


def notes(listed: Sequence[Note], known: Collection[str]) -> str:
    """Labelled statements as a list."""
    items = (f"<li><b>{escape(n.label)}</b> {with_cites(n.says, n.cites, known)}</li>" for n in listed)
    return f'<ul class="notes">{"".join(items)}</ul>' if listed else ""


def unfolding(summary: str, inside: str) -> str:
    """What a reader may unfold. `inside` is markup, `summary` is text."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>" if inside else ""


def copyable(text: str, css: str) -> str:
    """Text to copy as it is, with a button that the page's script shows; without the script it can be selected."""
    button = '<button type="button" class="copy" hidden>copy</button>'
    return f'<div class="copyable">{button}<pre class="{css}">{escape(text)}</pre></div>'
