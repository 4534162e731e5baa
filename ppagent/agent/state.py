"""What travels through the graph: JSON-like data only, so that a checkpoint is small and opens anywhere.

Evidence stays on the ledger; the state holds its ids. A key that a node leaves out of its answer keeps its value.
"""

from typing import Any, TypedDict


class CallRow(TypedDict):
    """One question to one tool."""

    tool: str
    arguments: dict[str, Any]
    why: str
    grade: int
    """How much it disturbs this target (a recording is never disturbed: 0)."""


class DeniedRow(TypedDict):
    """A question that was not asked because it would have disturbed the server too much."""

    tool: str
    grade: int
    why: str


class State(TypedDict, total=False):
    """The investigation as the graph carries it; every node answers with the keys that it changes."""

    call: CallRow | None
    """The question chosen last."""
    allowed: bool
    """Whether that question may be asked."""
    asked: list[str]
    """Keys of the questions chosen so far, denied ones included."""
    tool_calls: dict[str, int]
    """By grade (as text), questions really asked."""
    denied: list[DeniedRow]
    evidence: list[str]
    """Ids on the ledger."""
    hypotheses: dict[str, str]
    """By cause, its state on the board."""
    stopped: str
    """Why no further question is asked; empty while there is one."""
    budget_used_up: bool


def fresh_state() -> State:
    """The state before anything was asked."""
    return State(
        call=None,
        allowed=False,
        asked=[],
        tool_calls={},
        denied=[],
        evidence=[],
        hypotheses={},
        stopped="",
        budget_used_up=False,
    )
