"""Figures in a sentence, held against the evidence that it cites: what stands there nowhere is made up.

Words count as figures too ("ninety", "twice"), and so do names with digits (fp8, 0.5.11, PP8): whatever a model could
get wrong by a digit has to be in the evidence, exactly or rounded.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ppagent.evidence.evidence import Evidence, FactValue

_IDS = re.compile(r"--[\w-]+|\b(?:E\d{1,3}|[MP]\d{1,2})\b(?!\.\d)|\b[A-Z]{2}\d{3}\b|\bp\d{2}\b")
"""Flags, ids, names of percentiles: checked elsewhere, or no figures."""

_NAME = re.compile(r"\b[A-Za-z_][A-Za-z_.-]*\d[\w.]*\b|\b\d+\.\d+\.\d+[\w.]*\b")
_LABEL = re.compile(r"(?:PP|TP|DP|EP|CP|C|GPU)[_ -]?(\d+)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?P<percent>\s?%| percent)?",
    re.IGNORECASE,
)
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: n for n, word in enumerate(_SMALL.split())} | {word: 10 * n for n, word in enumerate(_TENS.split(), 3)}
_SPELLED = re.compile(
    rf"\b(?:(?P<tens>twenty|{_TENS.replace(' ', '|')})[ -]?)?(?P<small>{_SMALL.replace(' ', '|')})?\b"
    r"(?P<percent> percent)?",
    re.IGNORECASE,
)
_MULTIPLES = re.compile(
    r"\b(?:hundreds?|thousands?|millions?|billions?|dozens?|twice|thrice|half|halved|halves|quarter|doubled?|doubles"
    r"|tripled?|triples)\b",
    re.IGNORECASE,
)
_WITHIN = 0.05
"""A rounded figure is at most this share off, so that 0.3 is not told as 0."""


_UNITS: dict[str, str] = {
    r"tok(?:en)?s?\s?(?:/\s?s|per second)": r"throughput|tok\S* ?/ ?s|rate|per second|speed",
    r"(?:GiB|GB)\b": r"gib|gb\b|memory|weight|kvcache",
    r"(?:MiB|MB)\b": r"mib|mb\b|memory",
    r"(?:W|watts?)\b": r"power|_w\b|watt|\d ?w\b",
    r"(?:MHz)\b": r"mhz|clock",
    r"(?:ms|milliseconds?)\b": r"_ms|\bms\b|itl|tpot|ttft|latency",
}
"""A unit behind a figure, and what the name or the words around the same figure in the evidence must hold."""

_PERCENT = re.compile(r"%|percent|util|occupancy", re.IGNORECASE)
_SHARE = re.compile(r"share|usage|rate|ratio|fraction|busy|balanced", re.IGNORECASE)
"""What is told in percent, and what is a share of 1: only these can be a percentage."""

_AROUND = 24
"""Characters of text on each side of a number that tell what it counts."""


@dataclass(frozen=True)
class Figure:
    """One number of a sentence."""

    written: str
    value: float
    decimals: int
    percent: bool = False
    unit: str = ""
    """What must stand around it in the evidence, as a pattern; empty for a figure without a unit of its own."""


@dataclass(frozen=True)
class Known:
    """One number of the evidence, and the words around it."""

    value: float
    context: str


def made_up(text: str, cited: Iterable[Evidence], also: Iterable[float] = ()) -> list[str]:
    """Figures of `text` that stand in none of the cited evidence, or there with another unit, and not among `also`."""
    evidence = list(cited)
    bare = _IDS.sub(" ", unicodedata.normalize("NFKC", text))
    numbers = [number for item in evidence for number in numbers_of(item)]
    words = " ".join(_words_of(item) for item in evidence).lower()
    values = {*also, *(number.value for number in numbers)}
    names = [name for name in _NAME.findall(bare) if not _name_known(name, words, values)]
    rest = _NAME.sub(" ", bare)
    free = [Known(value, "") for value in also]
    wrong = [f.written for f in _figures(rest) if not any(_same(f, n) for n in numbers) and not _among(f, free)]
    return names + wrong + _MULTIPLES.findall(rest)


def numbers_of(evidence: Evidence) -> Iterator[Known]:
    """Every number that a piece of evidence holds: in its facts, in their texts, in its excerpt, and how many rows."""
    for name, value in evidence.facts.items():
        yield from _numbers(name, value)
    yield from _in_text(evidence.excerpt)


def _name_known(name: str, words: str, values: set[float]) -> bool:
    label = _LABEL.fullmatch(name)
    if label is not None and float(label[1]) in values:
        return True
    return name.lower().rstrip(".") in words


def _figures(text: str) -> Iterator[Figure]:
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace(",", "").lower()
        decimals = 6 if "e" in digits else len(digits.partition(".")[2])
        behind = text[match.end() :].lstrip()
        unit = next((around for unit, around in _UNITS.items() if re.match(unit, behind)), "")
        yield Figure(match.group().strip(), float(digits), decimals, match["percent"] is not None, unit)
    for match in _SPELLED.finditer(text):
        words = [word.lower() for word in (match["tens"], match["small"]) if word]
        if words and words != ["one"]:
            value = sum(_VALUES[word] for word in words)
            yield Figure(match.group().strip(), float(value), 0, match["percent"] is not None)


def _among(figure: Figure, free: Iterable[Known]) -> bool:
    return any(_rounds_to(number.value, figure) for number in free)


def _same(figure: Figure, number: Known) -> bool:
    """Whether the figure is the number, rounded to the digits it is written with; a percentage may be a share of 1."""
    if figure.unit and not re.search(figure.unit, number.context, re.IGNORECASE):
        return False
    value = abs(number.value)
    if not figure.percent:
        return _rounds_to(value, figure)
    told_so = _PERCENT.search(number.context) is not None and _rounds_to(value, figure)
    return told_so or (value <= 1 and _SHARE.search(number.context) is not None and _rounds_to(100 * value, figure))


def _rounds_to(value: float, figure: Figure) -> bool:
    off = abs(value - figure.value)
    return off <= 0.5 * 10**-figure.decimals + 1e-9 and off <= _WITHIN * abs(value) + 1e-9


def _numbers(name: str, value: FactValue) -> Iterator[Known]:
    match value:
        case bool() | None:
            return
        case int() | float():
            yield Known(float(value), name)
        case str():
            yield from _in_text(value)
        case list():
            yield Known(float(len(value)), "rows")
            for item in value:
                yield from _numbers(name, item)
        case dict():
            yield Known(float(len(value)), "rows")
            for key, item in value.items():
                yield from _in_text(key)
                yield from _numbers(f"{name} {key}", item)


def _in_text(text: str) -> Iterator[Known]:
    bare = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for match in re.finditer(r"\d+(?:\.\d+)?", bare):
        yield Known(float(match.group()), bare[max(0, match.start() - _AROUND) : match.end() + _AROUND])


def _words_of(evidence: Evidence) -> str:
    return f"{evidence.artifact} {evidence.excerpt} {dict(evidence.facts)}"
