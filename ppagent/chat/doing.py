"""One tool asked because the person wants it: shown first where it disturbs, run, and its answer taken in."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ppagent.agent.state import CallRow
from ppagent.chat.acts import acting
from ppagent.chat.consent import Deed
from ppagent.chat.deeds import deed_of
from ppagent.chat.looking import at_work
from ppagent.chat.session import Session
from ppagent.chat.steps import looked_on
from ppagent.chat.taking import take_in
from ppagent.chat.wording import call_in_short, duration
from ppagent.errors import UserError
from ppagent.evidence.evidence import Evidence, Finding

NOT_RUN = "Nothing was run."
ACCUMULATED = ("trial.comparisons",)
"""Facts that are lists of which a further answer adds a row."""


def do(session: Session, tool: str, arguments: Mapping[str, Any], why: str) -> tuple[Evidence, ...]:
    """The evidence that the tool's answer became; empty where the person said no.

    Raises UserError where the target has no such tool or it cannot be asked that, ToolError where it has no answer.
    """
    offer = session.desk.toolbox.find(tool)
    if offer is None:
        raise UserError(f"{tool} needs a live server, and this is none.", "Name one: ppagent chat ssh://HOST.")
    try:
        asked = offer.tool.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"{tool} does not take that: {place}: {first['msg']}.", "/help tells how to write it."
        ) from error
    deed = deed_of(session, CallRow(tool=tool, arguments=dict(arguments), why=why, grade=int(offer.grade)))
    if not _allowed(session, deed):
        return ()
    counted = session.state["tool_calls"]
    counted[str(deed.grade)] = counted.get(str(deed.grade), 0) + 1
    with at_work(session), session.screen.working(_said(deed)), acting(session, tool, arguments, deed.grade):
        findings = [_newest(session, finding) for finding in offer.tool.run(looked_on(session), asked)]
    return take_in(session, tool, findings, why)


def _allowed(session: Session, deed: Deed) -> bool:
    if deed.grade <= session.desk.ceiling:
        return True
    decision = session.consent.decide(deed)
    session.record("approval", tool=deed.name, grade=deed.grade, allowed=decision.allowed, word=decision.word)
    return decision.allowed


def _said(deed: Deed) -> str:
    expected = f", expected {duration(deed.seconds)}" if deed.seconds is not None else ""
    return f"{call_in_short(deed.name, deed.arguments)}{expected}"


def _newest(session: Session, finding: Finding) -> Finding:
    """The finding, so that it counts before earlier ones of the same facts; a trial stands beside the earlier ones."""
    known, facts = session.desk.facts(), dict(finding.facts)
    for name in ACCUMULATED:
        rows = facts.get(name)
        if isinstance(rows, list):
            facts[name] = [*known.items(name), *rows]
    earlier = [fact.authority for name in facts if (fact := known.get(name)) is not None]
    return replace(finding, facts=facts, authority=max([finding.authority, *(a + 1 for a in earlier)]))
