"""What the user tells is evidence: the weakest there is, and often the only one."""

from collections.abc import Iterator
from dataclasses import replace

from ppagent.chat.overlay import Overlay
from ppagent.chat.session import Session
from ppagent.chat.taking import take_in
from ppagent.evidence.evidence import Evidence, Finding
from ppagent.evidence.masking import mask
from ppagent.plugins import ToolContext
from ppagent.targets.target import Shared

TOOL = "user.stated"
MOST_TOLD = 20_000
"""Characters of one message that are read for statements: what is longer is pasted, and a target reads files."""


def tell(session: Session, text: str) -> tuple[Evidence, ...]:
    """Takes the user's words as evidence; what was new in them. All words of the session are read together, so that
    what was said first still counts."""
    words = mask(text)[:MOST_TOLD]
    session.words.append(words)
    session.record("words", text=words)
    return take_in(session, TOOL, _read(session), "the user said it")


def _read(session: Session) -> Iterator[Finding]:
    """Findings of the user's words. What is said now counts before what a recording or an earlier message says, but
    never before what the server says of itself."""
    offer = session.desk.toolbox.find(TOOL)
    if offer is None or "question" not in offer.tool.arguments.model_fields:
        return
    context = ToolContext(Overlay(session.desk.context.target, {Shared.INCIDENT: None}))
    arguments = offer.tool.arguments.model_validate({"question": " ".join(session.words)})
    for finding in offer.tool.run(context, arguments):
        stated = all(name.startswith("stated.") for name in finding.facts)
        yield replace(finding, authority=1 + len(session.words)) if stated else finding
