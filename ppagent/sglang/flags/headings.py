"""Section headings that SGLang writes as comments between its flags; syntax trees do not keep comments."""

import re
from bisect import bisect_right

_RULE = re.compile(r"^\s*#\s*-{5,}\s*$")
_HEADING = re.compile(r"^(\s*)#\s*(?:---\s*)?([A-Z][A-Za-z0-9 ,/&()+-]{2,70}?)(?:\s*---)?\s*$")


class Headings:
    """The headings of one file at one depth of indentation, by line."""

    def __init__(self, lines: list[str], indent: int, first: int, last: int) -> None:
        self._at: list[int] = []
        self._titles: list[str] = []
        for number in range(first, min(last, len(lines)) + 1):
            match = _HEADING.match(lines[number - 1])
            if match and len(match[1]) == indent and _stands_alone(lines, number):
                self._at.append(number)
                self._titles.append(match[2].strip())

    def above(self, line: int) -> str:
        """The nearest heading above `line`, or ""."""
        place = bisect_right(self._at, line)
        return self._titles[place - 1] if place else ""


def _stands_alone(lines: list[str], number: int) -> bool:
    """Whether a comment line is a heading: ruled above and below, or a single line that no comment continues."""
    before, after = lines[number - 2].strip(), lines[number].strip() if number < len(lines) else ""
    if _RULE.match(before) or _RULE.match(after):
        return True
    return not before.startswith("#") and not after.startswith("#")
