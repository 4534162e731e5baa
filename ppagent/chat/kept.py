"""The evidence of a kept conversation: what still counts, and what is of before a second look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppagent.chat.past import Before
from ppagent.chat.wording import id_ranges
from ppagent.evidence.evidence import Evidence
from ppagent.sessions import Session as Saved

AGAIN, CARRIED, SERVING = "again", "carried", "serving"
"""Kinds of lines: a second look began, evidence of before that still counts, which server the evidence is of."""

Row = Mapping[str, Any]


@dataclass
class Kept:
    """Read line by line."""

    evidence: list[Evidence] = field(default_factory=list)
    archive: list[Evidence] = field(default_factory=list)
    before: Before | None = None
    words: list[str] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    """Questions to tools since the last second look."""

    @property
    def taken(self) -> int:
        """The number of the last id that was given out before the last second look."""
        return max((int(item.id[1:]) for item in self.archive), default=0)

    def begin_again(self, until: str) -> None:
        """What was found by then becomes what was before."""
        if self.evidence:
            self.before = Before(label_of(self.evidence, until), tuple(self.evidence))
        self.archive += [item for item in self.evidence if item not in self.archive]
        self.evidence, self.words, self.calls = [], [], []


def kept_in(saved: Saved) -> Kept:
    """Raises KeyError, TypeError or ValueError where the file is damaged."""
    kept = Kept()
    for row in saved.rows:
        match row["kind"]:
            case "tool":
                kept.calls.append(row)
                kept.evidence += [_evidence(item) for item in row.get("evidence") or ()]
            case "words":
                kept.words.append(str(row["text"]))
            case kind if kind == AGAIN:
                kept.begin_again(str(row["until"]))
            case kind if kind == CARRIED:
                kept.evidence[:0] = [item for item in kept.archive if item.id in row["ids"]]
    _must_be_whole(kept)
    return kept


def label_of(evidence: Sequence[Evidence], until: str) -> str:
    """What a comparison with evidence of this session is headed with."""
    return (
        f"since {id_ranges(tuple(item.id for item in evidence))} of this session, until {until[:16].replace('T', ' ')}"
    )


def _must_be_whole(kept: Kept) -> None:
    numbers = {int(item.id[1:]) for item in (*kept.archive, *kept.evidence)}
    lacking = next((n for n in range(1, max(numbers, default=0) + 1) if n not in numbers), None)
    if lacking is not None:
        raise ValueError(f"E{lacking} is missing")


def _evidence(row: Row) -> Evidence:
    if not isinstance(row["facts"], dict):
        raise TypeError("facts are no table")
    texts = {name: str(row[name]) for name in ("id", "tool", "artifact", "excerpt", "host", "at")}
    return Evidence(facts=row["facts"], authority=int(row["authority"]), **texts)
