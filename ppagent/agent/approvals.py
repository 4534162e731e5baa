"""Who is asked before something is done that disturbs the server."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ppagent.agent.state import CallRow, DeniedRow
from ppagent.agent.toolbox import Offer

GRADE_MEANS = {
    0: "reads a file",
    1: "HTTP GET on the server",
    2: "read-only command on the host",
    3: "perturbs the server",
    4: "puts load on the server",
    5: "restarts the server",
}


@dataclass(frozen=True)
class Request:
    """What a person is asked to allow."""

    tool: str
    grade: int
    does: str
    """The tool's own summary."""
    why: str

    def as_data(self) -> dict[str, Any]:
        """JSON-like, as it goes through the graph's interrupt."""
        return asdict(self)


Approver = Callable[[Request], bool]
"""Answers a request; None in its place where nobody can be asked."""


def request_for(call: CallRow, offer: Offer | None) -> Request:
    return Request(call["tool"], call["grade"], offer.tool.summary if offer is not None else "", call["why"])


def denial(call: CallRow, reason: str) -> DeniedRow:
    """The row that lists a question which was not asked."""
    return DeniedRow(tool=call["tool"], grade=call["grade"], why=f"{reason}; it was to tell {call['why']}")


def approve_up_to(grade: int, otherwise: Approver | None) -> Approver | None:
    """An approver that says yes up to `grade` and asks `otherwise` above it (no where there is nobody)."""

    def decide(request: Request) -> bool:
        if request.grade <= grade:
            return True
        return otherwise is not None and otherwise(request)

    return decide
