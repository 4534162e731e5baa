"""Pasted text as lines, of which each part that is recognised takes its own; what nobody takes are the user's words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_QUOTED = re.compile(r"(?m)^>.*(?:\n>.*)+")
"""Lines of a mail that was answered or forwarded; a single one may be somebody's `> 300 tok/s`."""
_QUOTE_MARKS = re.compile(r"(?m)^(?:>[ \t]?)+")


@dataclass
class Sheet:
    """The lines of a pasted text. `free[i]` is true while nothing has been made of line `i`."""

    lines: list[str]
    free: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free = [True] * len(self.lines)

    @classmethod
    def of(cls, text: str) -> "Sheet":
        """The lines of `text`; the marks of code blocks and of quoted mail are nobody's words."""
        plain = _QUOTED.sub(lambda block: _QUOTE_MARKS.sub("", block.group()), text.replace("\r\n", "\n"))
        sheet = cls(plain.split("\n"))
        sheet.take(i for i, line in enumerate(sheet.lines) if line.strip().startswith("```"))
        return sheet

    def take(self, numbers: Iterable[int]) -> list[str]:
        """The lines of these numbers, which then belong to somebody."""
        taken = []
        for i in numbers:
            self.free[i] = False
            taken.append(self.lines[i])
        return taken

    def is_free(self, i: int) -> bool:
        """Whether line `i` exists and belongs to nobody yet."""
        return 0 <= i < len(self.lines) and self.free[i]

    def words(self) -> str:
        """What is left, in order."""
        return "\n".join(line for line, free in zip(self.lines, self.free, strict=True) if free).strip()
