"""What could not be read of a tree's flags, taken down while they are read."""

from dataclasses import dataclass, field


@dataclass
class Gaps:
    """Sentences on what is not known, and how far that reaches."""

    says: list[str] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)
    """First spellings of flags of which something is not known: default, choices, what they take."""
    partial: bool = False
    """Whether the tree may register flags that were not read."""

    def of_flag(self, spelling: str, sentence: str) -> None:
        """Something about one flag is not known."""
        self.unsure.add(spelling)
        self.says.append(sentence)

    def of_some(self, sentence: str) -> None:
        """Flags may be missing."""
        self.partial = True
        self.says.append(sentence)
