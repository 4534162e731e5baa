"""Load levels that a user states: how many at a time, how fast."""

import re
from dataclasses import dataclass

from ppagent.evidence.evidence import FactValue
from ppagent_tools.reading import tidy
from ppagent_tools.stated_words import COUNT, FIGURE, Span, figure, range_of, ranges

Level = dict[str, FactValue]
MOST_USERS = 1024
"""More people than this are customers, not requests in flight."""

_RATE_UNIT = (
    r"(?:output |decode |generation )?(?:tok(?:en)?s?|t)\s?"
    r"(?:/\s?s(?:ec(?:ond)?)?\b|ps\b|per[ -]sec(?:ond)?\b|\ba second\b)|tps\b"
)
_AND = r"\s*(?:/|,(?:\s*and)?|\band\b)\s*"
_WHOLE = r"\d+(?!\.?\d)"
_RATE_LIST = re.compile(rf"(?P<rates>{FIGURE}(?:{_AND}{FIGURE})+)\s*(?:{_RATE_UNIT})", re.IGNORECASE)
_NAMED = (
    r"(?:\bC|\bconcurrency|\bconcurrencies|\bmax[_-]concurrency|\bbatch(?:[ _-]size)?|\bbs)\s*(?:=|:|\bof\b|\bis\b)?"
)
_LEVEL_LIST = re.compile(
    rf"{_NAMED}\s*(?P<after>{_WHOLE}(?:{_AND}{_WHOLE})+)"
    rf"|(?P<before>{_WHOLE}(?:{_AND}{_WHOLE})+)\s*(?:concurrent|users|clients|streams|requests|parallel)",
    re.IGNORECASE,
)
_TOGETHER = r"(?:at (?:a|one|the same) time|at once|in flight|in parallel)"
_ALIKE = r"(?:concurrent|parallel|simultaneous|active)"
_PEOPLE = r"(?:users?|clients?|streams?|people|sessions?|callers)"
_LEVEL = re.compile(
    rf"(?P<none>\brunning requests?\b)"
    rf"|{_NAMED}\s*(?P<named>\d+)\b"
    rf"|(?<![\w.-])(?P<many>{COUNT})\s+(?:{_ALIKE}\b(?:\s+(?:{_PEOPLE}|requests?|jobs))?|{_PEOPLE}\b(?:\s+{_TOGETHER})?"
    rf"|(?:requests?|jobs)\s+{_TOGETHER}|{_TOGETHER})\b"
    r"|(?P<single>\bsingle[ -](?:user|stream|request|client)|\b(?:one|a) (?:user|stream|request|client)\b"
    r"|\bone alone\b|\balone\b)",
    re.IGNORECASE,
)
_NOT_SEEN = re.compile(
    r"\b(?:expect\w*|hop(?:e|ed|ing)|should|want\w*|target|goal|publish\w*|advertis\w*|promis\w*|claim\w*|recipe"
    r"|reference|others?|elsewhere|reported)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:used to|previously|before|earlier|yesterday|last week|TP ?\d+ (?:gives|gave|gets|got)|with TP ?\d+)\b"
    r"|^\W*without\b",
    re.IGNORECASE,
)
_INPUT = re.compile(r"\b(?:prefill|prompt|input)\b[^.;,]{0,24}$", re.IGNORECASE)
_EACH = re.compile(r"\s*(?:each|apiece|per (?:user|request|stream|client|session)|a user)\b", re.IGNORECASE)
_WITHOUT_UNIT = re.compile(
    rf"\b(?:gets?|got|see|measure)\s+(?:only |just )?(?:about |around |~)?(?P<rate>{FIGURE})(?=[\s.?!,;]|$)"
    r"(?!\s*(?:%|W\b|GB|GPU|ms|s\b|x\b|requests?|users?))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stated:
    """What a sentence says about load: levels seen, levels of another setting or time, the most requests in flight."""

    levels: tuple[Level, ...] = ()
    prior: tuple[Level, ...] = ()
    in_flight: float | None = None


@dataclass(frozen=True)
class _Mention:
    """A number of requests at a time, and where it stands."""

    value: float
    start: int
    end: int


def stated_load(sentence: str) -> Stated:
    """Levels and concurrency in one sentence. Hoped-for and published figures are no levels."""
    mentions = _mentions(sentence)
    in_flight = max((mention.value for mention in mentions if mention.value > 1), default=None)
    rates = [
        rate
        for rate in _rates(sentence)
        if not _INPUT.search(sentence[: rate.start]) and not _NOT_SEEN.search(_clause(sentence, rate.start))
    ]
    levels = _paired(sentence, rates, mentions)
    if _BEFORE.search(sentence):
        return Stated((), tuple(levels), in_flight)
    return Stated(tuple(level for level in levels if "concurrency" in level), (), in_flight)


def _clause(sentence: str, place: int) -> str:
    """The words before `place` that belong to the same part of the sentence."""
    begin = max(sentence.rfind(mark, 0, place) for mark in (",", ";", "(", " but ", " while "))
    return sentence[max(begin, 0) : place]


def _rates(sentence: str) -> list[Span]:
    listed = _RATE_LIST.search(sentence)
    if listed and _LEVEL_LIST.search(sentence):
        return [range_of(f, None, listed.start(), listed.end()) for f in re.findall(FIGURE, listed["rates"])]
    found = ranges(sentence, _RATE_UNIT)
    if found or not re.search(r"\balone\b|\btogether\b", sentence, re.IGNORECASE):
        return found
    return [range_of(m["rate"], None, m.start(), m.end()) for m in _WITHOUT_UNIT.finditer(sentence)]


def _mentions(sentence: str) -> list[_Mention]:
    listed = _LEVEL_LIST.search(sentence)
    if listed:
        numbers = re.findall(r"\d+", listed["after"] or listed["before"])
        return [_Mention(float(number), listed.start(), listed.end()) for number in numbers]
    found = []
    for match in _LEVEL.finditer(sentence):
        many = match["named"] or match["many"]
        value = figure(many) if many else 1.0
        part_of_range = re.search(r"\d\s*(?:-|–|to)\s*$|#$", sentence[: match.start()])
        if not match["none"] and not part_of_range and value <= MOST_USERS:
            found.append(_Mention(value, match.start(), match.end()))
    return found


def _paired(sentence: str, rates: list[Span], mentions: list[_Mention]) -> list[Level]:
    """Each rate with its concurrency: in order where there are as many of both, else the nearest unused one."""
    if len(rates) == len(mentions):
        return [_level(sentence, rate, mention) for rate, mention in zip(rates, mentions, strict=True)]
    free = list(mentions)
    levels = []
    for rate in rates:
        near = min(free, key=lambda m: min(abs(m.start - rate.end), abs(rate.start - m.end)), default=None)
        if near is not None:
            free.remove(near)
        levels.append(_level(sentence, rate, near))
    return levels


def _level(sentence: str, rate: Span, mention: _Mention | None) -> Level:
    if mention is None:
        return {"output_throughput": tidy(rate.middle)}
    each = _EACH.match(sentence, rate.end) is not None
    total = round(rate.middle * mention.value, 3) if each else rate.middle
    return {"concurrency": tidy(mention.value), "output_throughput": tidy(total)}
