"""Answers to what is said in plain words, without a model."""

import re
from collections.abc import Callable

from ppagent.agent.board import Board
from ppagent.chat.answers.cause import cause_in_short, cause_lines
from ppagent.chat.answers.compare import Before, compare_lines
from ppagent.chat.answers.flag import flag_lines
from ppagent.chat.answers.forecast import what_if_lines
from ppagent.chat.answers.proposals import HINT, proposals_in_short
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.answers.topics import hypotheses_named, telling, topics_in
from ppagent.chat.answers.why import why_lines
from ppagent.chat.commands.registry import run_command
from ppagent.chat.looking import investigate, know
from ppagent.chat.questions import Kind, meaning
from ppagent.chat.resume import evidence_in
from ppagent.chat.session import Session
from ppagent.chat.speaking import speak
from ppagent.chat.store import conversations, open_saved
from ppagent.chat.words import tell
from ppagent.errors import UserError
from ppagent.report.lines import BLANK, Line, wrapped

MOST_CAUSES = 3

CAN = (
    "why it is slow",
    "whether something is the cause (by id or by name: is it the KV cache?)",
    "what to change",
    "what a setting would give (what if the limit is 2 at C=16?)",
    "what a launch flag does",
    "how it compares with an earlier session",
)


def reply(session: Session, text: str) -> None:
    """Answers what the user said."""
    REPLIES[meaning(text, looked=session.looked)](session, text)


def _why(session: Session, text: str) -> None:
    investigate(session, text)
    found = session.found()
    session.say(why_lines(found, text, session.screen.width))
    _offer_trial(session)


def _go_on(session: Session, text: str) -> None:
    session.looked = False
    investigate(session)
    session.say(why_lines(session.found(), "", session.screen.width))


def _cause(session: Session, text: str) -> None:
    know(session)
    found, width = session.found(), session.screen.width
    meant = (h for topic in topics_in(text) if (h := telling(topic, found.board)) is not None)
    chosen = tuple({h.id: h for h in (*hypotheses_named(text, found.board), *meant)}.values())
    if not chosen:
        _cannot(session, text)
        return
    lines: list[Line] = []
    for hypothesis in chosen[:MOST_CAUSES]:
        lines += wrapped(f"{cause_in_short(hypothesis)}.", width, tone="verdict")
    if len(chosen) == 1:
        lines += [BLANK, *cause_lines(chosen[0], found, width)]
    session.say(lines)


def _change(session: Session, text: str) -> None:
    know(session)
    found, width = session.found(), session.screen.width
    if not found.plan.proposals:
        session.say(why_lines(found, "", width))
        return
    session.say([*proposals_in_short(found, width), Line(f"  {HINT}", "dim")])
    _offer_trial(session)


def _what_if(session: Session, text: str) -> None:
    know(session)
    session.say(what_if_lines(session.found(), read_setting(text), session.screen.width))


def _flag(session: Session, text: str) -> None:
    named = read_setting(text).named
    session.say(flag_lines(session.found(), named[0], session.screen.width))


def _evidence(session: Session, text: str) -> None:
    run_command(session, f"/evidence {' '.join(re.findall(r'E[0-9]+', text))}")


def _compare(session: Session, text: str) -> None:
    """With the newest earlier session about the same target."""
    know(session)
    others = (kept for kept in conversations() if kept.id != session.id and kept.target == session.target_text)
    before = next((kept for kept in others if kept.evidence), None)
    if before is None:
        session.say(wrapped("There is no earlier session about this target to compare with.", session.screen.width))
        return
    try:
        earlier = tuple(evidence_in(open_saved(before.id)))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"The session {before.id} is damaged: {error}.", "/sessions lists the others.") from error
    now = tuple(session.desk.ledger.evidence)
    session.say(compare_lines(Before(before.id, before.at, earlier), now, session.screen.width))


def _told(session: Session, text: str) -> None:
    """A statement: it is evidence, and may move the board."""
    before = session.desk.board() if session.looked else None
    added = tell(session, text)
    if len(added) < 2:
        _cannot(session, text)
        return
    investigate(session)
    width = session.screen.width
    ids = " ".join(item.id for item in added)
    lines = wrapped(f"Taken down as {ids}: what you say is evidence, the weakest there is.", width)
    moved = _moved(before, session.desk.board()) if before is not None else ()
    for says in moved or ("It changes no cause's state.",):
        lines += wrapped(says, width, "  ")
    session.say(lines)


def _moved(before: Board, after: Board) -> tuple[str, ...]:
    """Causes whose state has changed."""
    states = {h.cause_id: h.state for h in before.hypotheses}
    return tuple(f"{cause_in_short(h)}." for h in after.hypotheses if states.get(h.cause_id) != h.state)


def _yes(session: Session, text: str) -> None:
    offer, session.offer = session.offer, ""
    if not offer:
        session.say([Line("Yes to what? Nothing was offered.")])
        return
    run_command(session, offer)


def _no(session: Session, text: str) -> None:
    session.offer = ""
    session.say([Line("Nothing is done.")])


def _greeting(session: Session, text: str) -> None:
    session.say(wrapped("Ask why it is slow, or what to change. /help lists the rest.", session.screen.width))


def _cannot(session: Session, text: str) -> None:
    """A model's words where there is one; else it says plainly what it cannot, and what it can."""
    width = session.screen.width
    if session.voice is not None:
        speak(session, text)
        return
    lines = wrapped("I answer by rules here, without a language model, and did not understand that. I can tell:", width)
    lines += [Line(f"  - {what}") for what in CAN]
    lines += wrapped("/help lists the commands; /model NAME lets a model choose what to look at.", width, tone="dim")
    session.say(lines)


def _offer_trial(session: Session) -> None:
    """Where a live change is proposed for a live server, a yes starts its trial."""
    found = session.found()
    live = next((proposal for proposal in found.plan.proposals if proposal.kind == "live"), None)
    if live is None or found.target_kind == "recording" or session.consent.dialog is None:
        return
    session.offer = f"/try {live.id}"
    session.say(
        wrapped(
            f"Shall I try {live.id} live? I measure before and after, and put the old value back (yes shows the plan).",
            session.screen.width,
        )
    )


REPLIES: dict[Kind, Callable[[Session, str], None]] = {
    "yes": _yes,
    "no": _no,
    "go_on": _go_on,
    "what_if": _what_if,
    "flag": _flag,
    "compare": _compare,
    "cause": _cause,
    "change": _change,
    "evidence": _evidence,
    "why": _why,
    "told": _told,
    "greeting": _greeting,
    "cannot": _cannot,
}
