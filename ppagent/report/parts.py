"""What a report is made of: a labelled statement, a reason with its quote, a cause with what speaks for and against."""

from dataclasses import dataclass

Cites = tuple[str, ...]
"""Ids of evidence."""


@dataclass(frozen=True)
class Note:
    """One labelled statement."""

    label: str
    says: str
    cites: Cites = ()


@dataclass(frozen=True)
class Reason:
    """One observation and where it was read."""

    says: str
    cites: Cites
    artifacts: tuple[str, ...]
    quote: str = ""
    """A verbatim piece of one of them."""


@dataclass(frozen=True)
class CauseSection:
    """A supported cause with what speaks for and against it."""

    id: str
    name: str
    confidence: float
    gain: str
    """What curing it alone would give, where that is priced."""
    open: tuple[str, ...]
    """What is still open about it, and what would settle it."""
    because: tuple[Reason, ...]
    against: tuple[Reason, ...]

    @property
    def cites(self) -> Cites:
        return tuple(dict.fromkeys(c for reason in self.because for c in reason.cites))
