"""Answers to what is said in plain words, without a model."""

from collections.abc import Callable

from ppagent.chat.about_causes import ABOUT_CAUSES
from ppagent.chat.about_settings import ABOUT_SETTINGS
from ppagent.chat.asides import ASIDES
from ppagent.chat.commands.registry import run_command
from ppagent.chat.on_call import ON_CALL
from ppagent.chat.parts import parts_of
from ppagent.chat.phrases import THANKS
from ppagent.chat.questions import Kind, meaning
from ppagent.chat.session import Session
from ppagent.chat.unclear import cannot
from ppagent.report.lines import BLANK, Line, wrapped

UNCLEAR = frozenset(("cannot", "told", "greeting", "yes", "no"))
"""Kinds that are no question by themselves, in a message of several parts."""

BETTER_BY_MODEL = frozenset(("means", "beyond", "unheard", "foreign"))
"""Kinds that a model answers in its own words, where there is one."""


def reply(session: Session, text: str) -> None:
    """Answers what the user said; several questions one after the other."""
    asked = [(_kind(session, part), part) for part in parts_of(text)] if _kind(session, text) != "log" else []
    clear = _once_why([(kind, part) for kind, part in asked if kind not in UNCLEAR])
    if len(clear) < 2:
        REPLIES[_kind(session, text)](session, text)
        return
    for number, (kind, part) in enumerate(clear):
        session.screen.show([BLANK] * bool(number) + [Line(f"- {part}", "heading")])
        REPLIES[kind](session, _with_statements(asked) if kind == "why" else part)


def _once_why(clear: list[tuple[Kind, str]]) -> list[tuple[Kind, str]]:
    """The questions with the complaints among them taken for one."""
    first = next((part for kind, part in clear if kind == "why"), "")
    return [(kind, part) for kind, part in clear if kind != "why" or part == first]


def _with_statements(asked: list[tuple[Kind, str]]) -> str:
    """The complaint, with what else was told and asks nothing: figures in it are evidence."""
    return " ".join(part for kind, part in asked if kind in ("why", "told", "cannot"))


def _kind(session: Session, text: str) -> Kind:
    kind = meaning(text, looked=session.looked)
    return "cannot" if session.voice is not None and kind in BETTER_BY_MODEL else kind


def _yes(session: Session, text: str) -> None:
    offer, session.offer = session.offer, ""
    if not offer and session.put_off is not None:
        REPLIES["go_on"](session, text)
        return
    if not offer:
        session.say(wrapped(_nothing_offered(session), session.screen.width))
        return
    run_command(session, offer)


def _nothing_offered(session: Session) -> str:
    ready = [proposal.id for proposal in session.found().plan.proposals if proposal.command]
    if not ready:
        return "Yes to what? Nothing was offered."
    how = "" if session.live else " This is no live server, so nothing can be done to it from here."
    return f"Yes to what?{how} /copy {ready[0]} takes the command along, /try {ready[0]} tries it on a live server."


def _no(session: Session, text: str) -> None:
    session.offer = ""
    session.say([Line("Nothing is done.")])


def _greeting(session: Session, text: str) -> None:
    thanked = THANKS.search(text) is not None
    says = "You are welcome." if thanked else "Ask why it is slow, or what to change. /help lists the rest."
    session.say(wrapped(says, session.screen.width))


REPLIES: dict[Kind, Callable[[Session, str], None]] = {
    **ABOUT_CAUSES,
    **ABOUT_SETTINGS,
    **ASIDES,
    **ON_CALL,
    "yes": _yes,
    "no": _no,
    "greeting": _greeting,
    "cannot": cannot,
}
