"""The evidence as a report shows it to whoever follows a citation: where it was read, the words, the facts."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.vocabulary import VOCABULARY
from ppagent.report.plain import plain

LONGEST_VALUE = 400


@dataclass(frozen=True)
class FactRow:
    """One fact in words. `cut` is the length of a value that is shown in part only, else 0."""

    name: str
    value: str
    cut: int = 0


@dataclass(frozen=True)
class Exhibit:
    """One piece of evidence."""

    id: str
    tool: str
    source: str
    """The artifact, its host and its time, as far as they are known."""
    excerpt: str
    facts: tuple[FactRow, ...]


def exhibit_of(evidence: Evidence) -> Exhibit:
    """`evidence` without control characters."""
    source = " · ".join(part for part in (evidence.artifact, evidence.host, evidence.at) if part)
    rows = tuple(_row(name, value) for name, value in evidence.facts.items())
    return Exhibit(evidence.id, plain(evidence.tool), plain(source), plain(evidence.excerpt), rows)


def _row(name: str, value: FactValue) -> FactRow:
    shown = plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    cut = len(shown) if len(shown) > LONGEST_VALUE else 0
    return FactRow(plain(name), shown[:LONGEST_VALUE], cut)


def glossary(exhibits: Iterable[Exhibit]) -> tuple[tuple[str, str], ...]:
    """What the names of these facts mean, each name or family of names once."""
    entries = {_entry(fact.name) for exhibit in exhibits for fact in exhibit.facts}
    return tuple((entry, VOCABULARY[entry]) for entry in VOCABULARY if entry in entries)


def _entry(name: str) -> str:
    """The name itself or its family, as the vocabulary has it; empty where it has neither."""
    parts = name.split(".")
    families = (".".join(parts[:end]) + ".*" for end in range(len(parts) - 1, 0, -1))
    return next((each for each in (name, *families) if each in VOCABULARY), "")
