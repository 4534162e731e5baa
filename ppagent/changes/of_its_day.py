"""Where nothing tells the version: the flags of the newest one that was out when the server was seen.

An older server may still name them otherwise, which is said beside each flag whose name changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.flags.release_days import newest_by
from ppagent.sglang.legality.renames import earlier_name, later_name


@dataclass(frozen=True)
class OfItsDay:
    """The newest version by the day of the log's last line."""

    day: str
    newest: str
    catalogue: Catalogue

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return f"SGLang up to {self.newest}, the newest on {self.day},"

    def other_names(self, flags: Iterable[str]) -> tuple[str, ...]:
        """What other versions call those of `flags` whose names changed, as clauses."""
        known = ((flag, [name for name in (earlier_name(flag), later_name(flag)) if name]) for flag in flags)
        return tuple(
            f"SGLang's version is not known: {flag} is the name in {self.newest}, the newest on {self.day}; "
            + ", and ".join(others)
            for flag, others in known
            if others
        )


def of_its_day(facts: Facts) -> OfItsDay | None:
    """None where no day is known, or one before the oldest version known here."""
    day = facts.text("recording.at") or ""
    newest = newest_by(day[:10])
    return OfItsDay(day[:10], newest, catalogue_of(newest)) if day and newest else None
