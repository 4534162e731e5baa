"""What a tool found, and the numbered, masked record of it that every later claim points back at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FactValue = str | int | float | bool | None | list["FactValue"] | dict[str, "FactValue"]


@dataclass(frozen=True)
class Finding:
    """What one tool read in one artifact, before it has an id and is masked."""

    artifact: str
    """Where it stands, named as in a recording: "server.log", "metrics/3.prom", "bench.jsonl"."""
    facts: Mapping[str, FactValue]
    """Named facts; every name is in `ppagent.evidence.vocabulary`."""
    excerpt: str = ""
    """A short verbatim piece of the artifact, never paraphrased and never closed with an ellipsis."""
    host: str = ""
    at: str = ""
    """When the artifact says it was so (ISO 8601), or empty."""
    authority: int = 1
    """Which of two findings of the same fact counts: 3 the running server says it of itself, 2 its log does,
    1 it was requested or stated."""


@dataclass(frozen=True)
class Evidence:
    """A finding on the ledger: numbered, masked, quoted."""

    id: str
    tool: str
    artifact: str
    facts: Mapping[str, FactValue]
    excerpt: str = ""
    host: str = ""
    at: str = ""
    authority: int = 1


@dataclass(frozen=True)
class Missing:
    """A question that could not be answered, and what would answer it."""

    tool: str
    why: str
    artifact: str = ""
    host: str = ""
    facts: tuple[str, ...] = field(default=())
