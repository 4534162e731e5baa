"""Troubles and telling remarks in a server's log: which line means what.

A kind is data: cheap marks that must stand in the line, a pattern whose named groups are the fields, how grave it is,
and whether it is known to be harmless. The tables lie in `trouble_ends`, `trouble_run`, `trouble_comm`,
`trouble_launch` and `trouble_flags`; the first kind that fits names the line. Whose line it is (which stage) is the
event's `ranks`.
Texts read in SGLang 0.4.7 to 0.5.23; those of PyTorch, NCCL and the kernel as these print them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["info", "warning", "error", "fatal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleKind:
    """One kind of line. `note` says what it means, for a harmless kind why it can be passed over. `counted` names the
    field whose numbers are worth adding up."""

    id: str
    severity: Severity
    marks: tuple[bytes, ...]
    pattern: str
    note: str
    harmless: bool = False
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a line was found to say: the kind and the fields its pattern captured."""

    kind: TroubleKind
    fields: Mapping[str, str] = field(default_factory=dict)


def trouble_kinds() -> tuple[TroubleKind, ...]:
    """Every kind, most specific first."""
    from ppagent.sglang.logs.trouble_comm import COMM_KINDS
    from ppagent.sglang.logs.trouble_ends import END_KINDS
    from ppagent.sglang.logs.trouble_flags import FLAG_KINDS
    from ppagent.sglang.logs.trouble_launch import LAUNCH_KINDS
    from ppagent.sglang.logs.trouble_run import GENERIC_KINDS, RUN_KINDS

    return END_KINDS + RUN_KINDS + COMM_KINDS + LAUNCH_KINDS + FLAG_KINDS + GENERIC_KINDS


def find_trouble(message: str) -> Trouble | None:
    """What `message` (a line without its prefix) means, None where it means nothing known."""
    data = message.encode("utf-8", "replace")
    return first_fitting((kind for kind in trouble_kinds() if any(mark in data for mark in kind.marks)), message)


def first_fitting(kinds: Iterable[TroubleKind], message: str) -> Trouble | None:
    """The first of `kinds` whose pattern fits `message`."""
    for kind in kinds:
        found = read_trouble(kind, message)
        if found is not None:
            return found
    return None


def read_trouble(kind: TroubleKind, message: str) -> Trouble | None:
    """The trouble, where the pattern of `kind` fits `message`."""
    match = re.search(kind.pattern, message)
    if match is None:
        return None
    return Trouble(kind, {name: text for name, text in match.groupdict().items() if text is not None})
