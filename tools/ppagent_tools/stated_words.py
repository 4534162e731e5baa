"""Numbers and measures as people write them: `~24.7 tok/s`, `150/200 W`, `eight users`, `20 % to 50 %`."""

import re
from dataclasses import dataclass

from ppagent.evidence.evidence import FactValue
from ppagent_tools.reading import tidy

NUMBER_WORDS: dict[str, int] = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "dozen": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "thirty-two": 32, "forty": 40,
    "fifty": 50, "sixty-four": 64, "hundred": 100,
}  # fmt: skip

FIGURE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[kK](?![A-Za-z]))?"
COUNT = rf"(?:{FIGURE}|{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})"
BETWEEN = r"\s*(?:-|–|—|\bto\b|/)\s*"
"""What stands between the ends of a range: `150-200`, `150 to 200`, `150/200`."""


@dataclass(frozen=True)
class Span:
    """A quantity that was said: a range whose ends are equal where one figure was given, and where it stands."""

    low: float
    high: float
    start: int
    end: int

    @property
    def middle(self) -> float:
        return round((self.low + self.high) / 2, 3)

    @property
    def fact(self) -> FactValue:
        return {"low": tidy(self.low), "high": tidy(self.high)}


def figure(text: str) -> float:
    """The number that digits or a word say."""
    lower = text.strip().lower()
    if lower in NUMBER_WORDS:
        return float(NUMBER_WORDS[lower])
    value = float(lower.rstrip("k").replace(",", ""))
    return value * 1000 if lower.endswith("k") else value


def range_of(low: str, high: str | None, start: int = 0, end: int = 0) -> Span:
    """The range that one or two figures make, in whatever order they were said."""
    ends = sorted((figure(low), figure(high) if high else figure(low)))
    return Span(ends[0], ends[1], start, end)


def ranges(sentence: str, unit: str) -> list[Span]:
    """Every figure or range of figures in front of `unit` (a pattern)."""
    pattern = re.compile(
        rf"(?<![\w.])[~≈]?\s?(?P<low>{FIGURE})(?:\s*(?:{unit}))?(?:{BETWEEN}[~≈]?(?P<high>{FIGURE}))?\s*(?:{unit})"
        rf"|(?<![\w.])(?P<only>{FIGURE})\s*(?:{unit})",
        re.IGNORECASE,
    )
    found = []
    for match in pattern.finditer(sentence):
        name = "low" if match["low"] else "only"
        found.append(range_of(match[name], match["high"], match.start(name), match.end()))
    return found
