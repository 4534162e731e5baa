"""Sentences with figures in them read right where a figure turns out to be one."""

import re

_NOUNS = (
    "requests users clients streams lines stages levels slots cards ranks nodes hosts layers tokens steps files runs "
    "sentences samples lanes experts groups replicas workers pairs rounds scrapes generations"
).replace(" ", "|")
_ONE = re.compile(rf"(?<![\w.,:/-])1 (?P<noun>{_NOUNS})\b(?P<where> in flight)?(?P<verb> [a-z]+\b)?")
_IRREGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_POWER = re.compile(r"(?<![\w.])\d(?:\.\d+)?e\+\d{1,2}(?![\w.])")
_REGULAR = frozenset("wait say need use hold run carry fit lie idle show take spread queue".split())  # noqa: SIM905


def agreeing(text: str) -> str:
    """`text` with what is counted in the singular where there is one: `1 requests wait` becomes `1 request waits`. No
    figure of it is a power of ten."""
    return _ONE.sub(_singular, _POWER.sub(lambda figure: f"{float(figure[0]):.0f}", text))


def _singular(match: re.Match[str]) -> str:
    verb = (match["verb"] or "").strip()
    if verb in _REGULAR:
        verb = verb.removesuffix("y") + "ies" if verb.endswith("ry") else f"{verb}s"
    verb = _IRREGULAR.get(verb, verb)
    return f"1 {match['noun'][:-1]}{match['where'] or ''}{' ' + verb if verb else ''}"
