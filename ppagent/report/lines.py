"""Lines of text with a tone, wrapped by word; a command is a line of its own and is never wrapped."""

import re
import textwrap
from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "title", "verdict", "heading", "good", "bad", "dim", "command"]

STYLES: dict[Tone, str] = {
    "plain": "",
    "title": "bold",
    "verdict": "bold",
    "heading": "bold cyan",
    "good": "green",
    "bad": "red",
    "dim": "dim",
    "command": "bold",
}
"""What a terminal that has colours shows a tone in, as rich names it."""


@dataclass(frozen=True)
class Line:
    """One line as it is printed."""

    text: str
    tone: Tone = "plain"


BLANK = Line("")

_CITATION = re.compile(r"\[[A-Z]\d+(?: [A-Z]\d+)*\]")
_TIED = "\N{NO-BREAK SPACE}"


def wrapped(text: str, width: int, first: str = "", rest: str | None = None, tone: Tone = "plain") -> list[Line]:
    """`text` over as many lines as it takes, the first behind `first`, the others behind `rest` (spaces by default).

    A word that is longer than a line stays whole, so that a path or a flag can be copied; so does a citation.
    """
    behind = " " * len(first) if rest is None else rest
    tied = _CITATION.sub(lambda cited: cited.group().replace(" ", _TIED), " ".join(text.split()))
    pieces = textwrap.wrap(
        tied,
        width,
        initial_indent=first,
        subsequent_indent=behind,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [Line(piece.replace(_TIED, " "), tone) for piece in pieces] or [Line(first.rstrip(), tone)]


def raw(text: str, indent: str, tone: Tone = "command") -> list[Line]:
    """Text to copy, line by line as it is; not indented where its own indentation counts (YAML, a here-document)."""
    lines = text.splitlines()
    indentation_counts = "<<" in text or any(line[:1].isspace() for line in lines)
    return [Line(f"{'' if indentation_counts else indent}{line}", tone) for line in lines]
