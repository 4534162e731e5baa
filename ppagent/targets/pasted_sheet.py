"""Pasted text as lines, of which each part that is recognised takes its own; what nobody takes are the user's words."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Sheet:
    """The lines of a pasted text. `free[i]` is true while nothing has been made of line `i`."""

    lines: list[str]
    free: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free = [True] * len(self.lines)

    @classmethod
    def of(cls, text: str) -> "Sheet":
        """The lines of `text`; the marks of code blocks are nobody's words."""
        sheet = cls(text.replace("\r\n", "\n").split("\n"))
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
