"""One question to one tool: findings go to the ledger, and so does the reason where there are none."""

from collections.abc import Sequence

from pydantic import ValidationError

from ppagent.agent.choosing import ToolCall
from ppagent.agent.desk import Desk
from ppagent.agent.toolbox import Offer
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Finding, Missing


def ask(desk: Desk, call: ToolCall) -> tuple[str, ...]:
    """Ids of the evidence that the answer became; empty where there was no answer."""
    offer = desk.toolbox.find(call.tool)
    if offer is None:
        return _unanswered(desk, Missing(call.tool, "there is no such tool"))
    try:
        findings = _run(desk, offer, call)
    except (ToolError, ValidationError) as error:
        return _unanswered(desk, Missing(call.tool, str(error), facts=offer.tool.provides))
    return tuple(desk.ledger.add(call.tool, finding).id for finding in findings)


def _run(desk: Desk, offer: Offer, call: ToolCall) -> Sequence[Finding]:
    """The tool's findings. What a plugin raises is its own affair and reported; a built-in tool that raises anything
    but ToolError has a bug, which must be seen."""
    arguments = offer.tool.arguments.model_validate(dict(call.arguments))
    if offer.built_in:
        return offer.tool.run(desk.context, arguments)
    try:
        return offer.tool.run(desk.context, arguments)
    except ToolError:
        raise
    except Exception as error:  # noqa: BLE001 - other people's code: whatever it raises is shown, not fatal
        raise ToolError(f"the plugin failed: {type(error).__name__}: {error}") from error


def _unanswered(desk: Desk, missing: Missing) -> tuple[str, ...]:
    desk.ledger.add_missing(missing)
    return ()
