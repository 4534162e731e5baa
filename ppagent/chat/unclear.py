"""What no rule understands."""

from ppagent.chat.session import Session
from ppagent.chat.speaking import speak
from ppagent.report.lines import Line, wrapped

CANNOT_AGAIN = (
    "I did not understand that either. Ask why it is slow, whether something is the cause, what to change, what a flag "
    "does, or whether to set it; /help lists the commands, /model NAME names a model that answers the rest."
)
CAN = (
    "why it is slow",
    "whether something is the cause (by id or by name: is it the KV cache?)",
    "what to change",
    "what a setting would give (what if the limit is 2 at C=16?)",
    "what a launch flag does, and whether to set it",
    "how sure that is, what it would bring, and whether it is safe",
    "how it compares with an earlier session",
)


def cannot(session: Session, text: str) -> None:
    """A model's words where there is one; else it says plainly what it cannot, and what it can."""
    width = session.screen.width
    if session.voice is not None:
        speak(session, text)
        return
    if session.lost:
        session.say(wrapped(CANNOT_AGAIN, width))
        return
    session.lost = True
    session.say(
        _can("I answer by rules here, without a language model, and did not understand that. I can tell:", width)
    )


def self_lines(mind: str, width: int) -> list[Line]:
    """Who answers, and what."""
    return _can(f"ppagent, which finds out why an SGLang server is slow ({mind}). I can tell:", width)


def _can(head: str, width: int) -> list[Line]:
    lines = [*wrapped(head, width), *(line for what in CAN for line in wrapped(what, width, "  - "))]
    return lines + wrapped(
        "/help lists the commands; /model NAME lets a model choose what to look at.", width, tone="dim"
    )
