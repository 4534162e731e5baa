"""Who is asked before something is done that disturbs the server."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from ppagent.agent.state import CallRow, DeniedRow
from ppagent.agent.toolbox import Offer
from ppagent.errors import ToolError
from ppagent.plugins import Announces, ToolContext

GRADE_MEANS = {
    0: "reads what is there",
    1: "asks the server over HTTP",
    2: "reads on the host, changes nothing",
    3: "disturbs the server",
    4: "puts load on the server",
    5: "restarts the server",
}
"""What a tool of each grade does to the server. The number alone tells nobody whether to allow it."""


@dataclass(frozen=True)
class Request:
    """What a person is asked to allow."""

    tool: str
    grade: int
    does: str
    """What the tool announces that it would do, else its own summary."""
    why: str

    def as_data(self) -> dict[str, Any]:
        """JSON-like, as it goes through the graph's interrupt."""
        return asdict(self)


Approver = Callable[[Request], bool]
"""Answers a request; None in its place where nobody can be asked."""


def request_for(call: CallRow, offer: Offer | None, context: ToolContext | None = None) -> Request:
    """What to ask. A tool that announces what it would do is shown by that: nobody agrees to a summary of a restart."""
    return Request(call["tool"], call["grade"], _does(call, offer, context), call["why"])


def _does(call: CallRow, offer: Offer | None, context: ToolContext | None) -> str:
    if offer is None:
        return ""
    if context is None or not isinstance(offer.tool, Announces):
        return "\n".join([offer.tool.summary, *_arguments(call)])
    try:
        told = offer.tool.announce(context, offer.tool.arguments.model_validate(call["arguments"]))
    except (ToolError, ValidationError) as error:
        return f"{offer.tool.summary} It cannot be announced: {error}"
    duration = f"takes about {told.seconds:.0f} s" if told.seconds is not None else ""
    return "\n".join(part for part in (told.runs, told.effect, duration) if part)


def _arguments(call: CallRow) -> list[str]:
    """What a tool is asked with, one a line: nobody agrees to a command that is not shown."""
    return [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in call["arguments"].items()]


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
