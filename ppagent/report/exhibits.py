"""The evidence as a report shows it to whoever follows a citation: where it was read, the words, the facts."""

import json
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
    meaning: str
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
    return FactRow(plain(name), shown[:LONGEST_VALUE], _meaning(name), cut)


def _meaning(name: str) -> str:
    """What the vocabulary says of a fact, itself or its family."""
    parts = name.split(".")
    families = (".".join(parts[:end]) + ".*" for end in range(len(parts) - 1, 0, -1))
    return next((VOCABULARY[each] for each in (name, *families) if each in VOCABULARY), "")
