"""One question to one tool: findings go to the ledger, and so does the reason where there are none."""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import ValidationError

from ppagent.agent.choosing import ToolCall
from ppagent.agent.desk import Desk
from ppagent.agent.toolbox import Offer
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Finding, Missing
from ppagent.evidence.masking import mask, mask_value


def ask(desk: Desk, call: ToolCall) -> tuple[str, ...]:
    """Ids of the evidence that the answer became; empty where there was no answer."""
    offer = desk.toolbox.find(call.tool)
    if offer is None:
        return _unanswered(desk, call, Missing(call.tool, "there is no such tool"))
    try:
        findings = _run(desk, offer, call)
    except (ToolError, ValidationError) as error:
        return _unanswered(desk, call, Missing(call.tool, str(error), facts=offer.tool.provides))
    added = [desk.ledger.add(call.tool, finding) for finding in findings]
    _record(desk, call, evidence=[asdict(item) for item in added])
    return tuple(item.id for item in added)


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


def _unanswered(desk: Desk, call: ToolCall, missing: Missing) -> tuple[str, ...]:
    desk.ledger.add_missing(missing)
    _record(desk, call, missing=mask(missing.why))
    return ()


def _record(desk: Desk, call: ToolCall, **answer: object) -> None:
    arguments = mask_value("arguments", dict(call.arguments))
    desk.recorder.write("tool", tool=call.tool, why=call.why, arguments=arguments, **answer)
