"""Answers to questions about what is wrong: why it is slow, whether something is the cause, what was seen."""

import re
from collections.abc import Callable

from ppagent.agent.board import Board, Hypothesis
from ppagent.chat import phrases
from ppagent.chat.answers.cause import cause_in_short, cause_lines
from ppagent.chat.answers.compare import compare_lines
from ppagent.chat.answers.helped import helped_lines
from ppagent.chat.answers.looked import looked_lines
from ppagent.chat.answers.topics import all_of, hypotheses_named, telling, topics_in
from ppagent.chat.answers.unheard import FOREIGN, is_foreign, unheard_lines
from ppagent.chat.answers.why import suspected_lines, unexplained_lines, verdict_lines, why_again_lines, why_lines
from ppagent.chat.commands.registry import run_command
from ppagent.chat.kept import kept_in
from ppagent.chat.looking import investigate, know
from ppagent.chat.offering import offer_trial, put_off_lines
from ppagent.chat.past import Before
from ppagent.chat.questions import Kind
from ppagent.chat.session import Session
from ppagent.chat.spelling import as_meant
from ppagent.chat.store import conversations, open_saved
from ppagent.chat.telling import told_lines
from ppagent.chat.unclear import cannot
from ppagent.errors import UserError
from ppagent.report.lines import BLANK, Line, wrapped

MOST_CAUSES = 8
TAKEN_FOR = "I take that for: why is it slow?"


def _why(session: Session, text: str) -> None:
    investigate(session, text)
    found, width = session.found(), session.screen.width
    lines = why_lines(found, "", width)
    answer = "\n".join(line.text for line in lines)
    guessed = not phrases.WHY.search(as_meant(text)) and not re.search(r"\d", text)
    taken = [Line(TAKEN_FOR, "dim")] if guessed and not is_foreign(text) else []
    suspected = suspected_lines(found, text, width)
    again = verdict_lines(found, width) if phrases.HEALTH.search(text) else why_again_lines(found, width)
    session.say([*taken, *suspected, *(again if answer == session.told else lines), *put_off_lines(session)])
    session.told = answer
    offer_trial(session)


def _go_on(session: Session, text: str) -> None:
    insisted, session.looked, session.insists = session.insists, False, True
    try:
        investigate(session)
    finally:
        session.insists = insisted
    session.say(why_lines(session.found(), "", session.screen.width))


def _again(session: Session, text: str) -> None:
    """Afresh where there is a live server that was not looked at afresh just now; else whatever was not asked yet."""
    if session.looked:
        run_command(session, "/again")
    else:
        _go_on(session, text)


def _cause(session: Session, text: str) -> None:
    know(session)
    found, width = session.found(), session.screen.width
    chosen = _meant(as_meant(text), found.board)
    if not chosen:
        cannot(session, text)
        return
    if phrases.ASKS_WHY.search(text) and not any(h.state == "supported" for h in chosen):
        session.say(unexplained_lines(found, topics_in(text), width))
        return
    lines: list[Line] = []
    for hypothesis in chosen[:MOST_CAUSES]:
        lines += wrapped(f"{cause_in_short(hypothesis)}.", width, tone="verdict")
    if len(chosen) == 1:
        lines += [BLANK, *cause_lines(chosen[0], found, width)]
    session.say(lines)


def _meant(text: str, board: Board) -> tuple[Hypothesis, ...]:
    """Causes that the text names, by id, by name or by subject. Of a subject without a supported cause it is all of
    them: one that is ruled out does not clear the others."""
    named = list(hypotheses_named(text, board))
    for topic in topics_in(text):
        most = telling(topic, board)
        named += [most] if most is not None and most.state == "supported" else all_of(topic, board)
    return tuple({h.id: h for h in named}.values())


def _evidence(session: Session, text: str) -> None:
    """Pieces that are named, whole; else what was looked at, in short."""
    named = re.findall(r"E[0-9]+", text)
    if named or re.search(r"\bevidence\b", text, re.I):
        run_command(session, f"/evidence {' '.join(named)}".rstrip())
        return
    know(session)
    session.say(looked_lines(session.found(), session.screen.width))


def _unheard(session: Session, text: str) -> None:
    know(session)
    session.say(unheard_lines(session.found(), text, session.screen.width))


def _foreign(session: Session, text: str) -> None:
    session.say([Line(FOREIGN, "dim")])
    _why(session, text)


def _told(session: Session, text: str) -> None:
    """A statement: it is evidence, and may move the board."""
    lines = told_lines(session, text)
    if lines:
        session.say(lines)
    else:
        cannot(session, text)


def _compare(session: Session, text: str) -> None:
    """With what was found before the last second look, else with the newest earlier session about the same target. What
    was tried just now answers whether it helped."""
    know(session)
    evidence = (*session.archive, *session.desk.ledger.evidence)
    tried = helped_lines(evidence, session.acts, session.screen.width) if phrases.HELPED.search(text) else []
    if tried:
        session.say(tried)
        return
    before, width = session.before or _earlier(session), session.screen.width
    if before is None:
        session.say(wrapped("There is no earlier session about this target to compare with.", width))
        return
    session.say(compare_lines(before, tuple(session.desk.ledger.evidence), width))


def _earlier(session: Session) -> Before | None:
    others = (kept for kept in conversations() if kept.id != session.id and kept.target == session.target_text)
    newest = next((kept for kept in others if kept.evidence), None)
    if newest is None:
        return None
    try:
        evidence = tuple(kept_in(open_saved(newest.id)).evidence)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"The session {newest.id} is damaged: {error}.", "/sessions lists the others.") from error
    return Before(f"since session {newest.id} of {newest.at.replace('T', ' ')}", evidence)


ABOUT_CAUSES: dict[Kind, Callable[[Session, str], None]] = {
    "why": _why,
    "go_on": _go_on,
    "again": _again,
    "cause": _cause,
    "evidence": _evidence,
    "told": _told,
    "unheard": _unheard,
    "foreign": _foreign,
    "compare": _compare,
}
