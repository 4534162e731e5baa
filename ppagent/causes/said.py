"""What the user said, searched for the few words and figures that a cause turns on."""

import re

from ppagent.causes.situation import Known
from ppagent.evidence.facts import Facts

_RATE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(?:output |decode )?(?:tok(?:en)?s?|t)\s?(?:/ ?s(?:ec\w*)?\b|per sec\w*)", re.I
)

_NOT_MEASURED = re.compile(
    r"\b(expect|hop(?:e|ed|ing)|should|want|target|goal|publish|advertis|promis|claim|recipe|reference|elsewhere|others?)",
    re.I,
)


_SPEED = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?=\s*(?:output |input |decode )?tok|,? at \d+ concurrent)", re.I)
_CONTRAST = re.compile(
    r"\b(?:instead of|against|than|plain|before|used to|colleague|others?|elsewhere|same box|promis|expect|should)",
    re.I,
)


def said(facts: Facts, pattern: str) -> Known | None:
    """The first sentence of the user (stated facts, then the question) that matches `pattern`, in any case."""
    search = re.compile(pattern, re.I)
    for sentence, cites in _sentences(facts):
        if search.search(sentence):
            return Known(1, cites, f'the user says "{sentence.strip()[:160].rstrip(". ")}"')
    return None


def stated_rates(facts: Facts) -> tuple[Known, ...]:
    """Speeds in tok/s that the user reports as seen. Hoped-for and published figures are left out."""
    found = []
    for row in facts.items("stated.levels"):
        rate = row.get("output_throughput") if isinstance(row, dict) else None
        if isinstance(rate, int | float) and not isinstance(rate, bool) and rate > 0:
            found.append(Known(float(rate), facts.cite("stated.levels"), f"{rate:g} tok/s stated"))
    if found:
        return tuple(found)
    for sentence, cites in _sentences(facts):
        if _NOT_MEASURED.search(sentence):
            continue
        for match in _RATE.finditer(sentence):
            rate = float(match.group(1).replace(",", ""))
            if rate > 0:
                found.append(Known(rate, cites, f"{rate:g} tok/s stated"))
    return tuple(found)


def unexplained_gap(facts: Facts) -> bool:
    """Whether the user sets two speeds against each other that are a quarter apart or more: here and elsewhere, before
    and now, one setting and another. Speeds at several load levels are no such contrast."""
    loads = {row.get("concurrency") for row in facts.items("stated.levels") if isinstance(row, dict)}
    if len(loads) > 1:
        return False
    rates = [
        float(match.group(1).replace(",", ""))
        for sentence, _ in _sentences(facts)
        if _CONTRAST.search(sentence)
        for match in _SPEED.finditer(sentence)
    ]
    return len(rates) > 1 and min(rates) > 0 and max(rates) >= 1.25 * min(rates)


def _sentences(facts: Facts) -> list[tuple[str, tuple[str, ...]]]:
    stated = [s for s in facts.items("stated.sentences") if isinstance(s, str)]
    question = facts.text("stated.question") or ""
    asked = [s for s in re.split(r"(?<=[.?!])\s+", question) if s]
    return [(s, facts.cite("stated.sentences")) for s in stated] + [(s, facts.cite("stated.question")) for s in asked]
