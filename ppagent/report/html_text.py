"""Text of a page: escaped, with a link from every citation to its evidence."""

import re
from collections.abc import Collection, Iterable, Sequence
from html import escape

from ppagent.report.parts import Note
from ppagent.report.pictures.svg import element

LONGEST_WHOLE = 34
"""Characters of a word that a phone has room for, so that it need not be broken at a hyphen."""

_CITATION = re.compile(r"\[(E\d+(?: E\d+)*)\]")
_FLAG = re.compile(r"--\w[\w-]*")


def said(text: str, known: Collection[str]) -> str:
    """`text` escaped, the citations in it linked where that evidence is on the page."""
    escaped = _FLAG.sub(lambda found: whole(found[0]), escape(text))
    return _CITATION.sub(lambda found: cited(found[1].split(), known), escaped)


def whole(markup: str) -> str:
    """A word that is not broken over two lines, where it is not too long for that."""
    return f'<span class="whole">{markup}</span>' if len(markup) <= LONGEST_WHOLE else markup


def cited(ids: Sequence[str], known: Collection[str]) -> str:
    """The ids in brackets, each a link to its evidence; nothing without ids."""
    if not ids:
        return ""
    links = (element("a", escape(i), href=f"#{i}") if i in known else escape(i) for i in dict.fromkeys(ids))
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
    items = (f"<li><b>{said(n.label, ())}</b> {with_cites(n.says, n.cites, known)}</li>" for n in listed)
    return f'<ul class="notes">{"".join(items)}</ul>' if listed else ""


def unfolding(summary: str, inside: str) -> str:
    """What a reader may unfold. `inside` is markup, `summary` is text."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>" if inside else ""


def copyable(text: str, name: str) -> str:
    """Text to copy as it is, with a button that the page's script shows; without the script it can be selected."""
    bar = f'<div class="bar"><span>{escape(name)}</span><button type="button" class="copy" hidden>copy</button></div>'
    words = re.split(r"(\s+)", text)
    marked = "".join(whole(escape(word)) if "-" in word else escape(word) for word in words)
    return f'<div class="copyable">{bar}<pre>{marked}</pre></div>'
