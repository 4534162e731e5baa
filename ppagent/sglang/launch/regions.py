"""Stretches of a launch text read as shell words, and the quotes they stand in."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Escape = Literal["shell-single", "shell-double", "yaml-single", "yaml-double"]
Meaning = Callable[[re.Match[str]], str]


@dataclass(frozen=True)
class Region:
    """A stretch of text read as shell words. `places[i]` is where `chars[i]` begins in the whole text."""

    chars: str
    places: Sequence[int]
    folded: bool = False
    """Newlines are blanks, as in a folded YAML scalar, and end no command."""
    escapes: tuple[Escape, ...] = ()
    """The quotes this stretch stands in, innermost first."""


def whole(text: str, start: int = 0, end: int | None = None, *, folded: bool = False) -> Region:
    """The region of `text[start:end]`, read as it stands."""
    stop = len(text) if end is None else end
    return Region(text[start:stop], range(start, stop + 1), folded)


def cut(region: Region, start: int, end: int) -> Region:
    """The part of `region` between two of its own positions."""
    return replace(region, chars=region.chars[start:end], places=region.places[start : end + 1])


def quoted_inside(region: Region, start: int, end: int) -> Region | None:
    """What stands between the quotes when `region[start:end]` is one quoted piece, None otherwise."""
    raw = region.chars[start:end]
    if re.fullmatch(r"'[^']*'", raw, re.DOTALL):
        return _requoted(cut(region, start + 1, end - 1), "shell-single")
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', raw, re.DOTALL):
        return _requoted(unescape(cut(region, start + 1, end - 1), r'\\(["\\$`])'), "shell-double")
    return None


def _requoted(region: Region, escape: Escape) -> Region:
    return replace(region, folded=False, escapes=(escape, *region.escapes))


def unescape(region: Region, pattern: str, meaning: Meaning = lambda m: m.group(1)) -> Region:
    """`region` with every match of `pattern` replaced by the one character (or nothing) it means, places kept."""
    escape = re.compile(pattern, re.DOTALL)
    chars: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(region.chars):
        match = escape.match(region.chars, at)
        char = meaning(match) if match else region.chars[at]
        if char:
            chars.append(char)
            places.append(region.places[at])
        at = match.end() if match else at + 1
    return replace(region, chars="".join(chars), places=(*places, region.places[len(region.chars)]))


def apply_escape(word: str, escape: Escape) -> str:
    """`word` as it has to be written inside one kind of quotes."""
    match escape:
        case "shell-single":
            return word.replace("'", "'\\''")
        case "shell-double":
            return re.sub(r'(["\\$`])', r"\\\1", word)
        case "yaml-single":
            return word.replace("'", "''")
        case "yaml-double":
            return json.dumps(word, ensure_ascii=False)[1:-1]
