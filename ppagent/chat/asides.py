"""Answers to questions about what was said and done: how sure, how safe, what it means, what it would bring."""

import re
from collections.abc import Callable

from ppagent.agent.board import Board, Hypothesis
from ppagent.chat import phrases
from ppagent.chat.acts import left_lines
from ppagent.chat.answers.beyond import beyond_lines
from ppagent.chat.answers.busy import busy_lines
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.answers.crowd import crowd_lines
from ppagent.chat.answers.done import done_lines
from ppagent.chat.answers.gain import gain_lines
from ppagent.chat.answers.launches import version_in, version_lines
from ppagent.chat.answers.needs import needs_lines
from ppagent.chat.answers.overview import overview
from ppagent.chat.answers.page import page_lines
from ppagent.chat.answers.restart import restart_lines
from ppagent.chat.answers.safety import safety_lines
from ppagent.chat.answers.sure import sure_lines
from ppagent.chat.answers.topics import hypotheses_named, telling, topics_in
from ppagent.chat.looking import know
from ppagent.chat.questions import Kind
from ppagent.chat.session import Session
from ppagent.chat.telling import told_lines
from ppagent.chat.unclear import self_lines
from ppagent.report.lines import wrapped

MOST_PAGES = 2


def _done(session: Session, text: str) -> None:
    evidence = (*session.archive, *session.desk.ledger.evidence)
    left = left_lines(session) if session.live else []
    session.say(done_lines(session.found(), evidence, session.acts, left, session.screen.width))


def _safe(session: Session, text: str) -> None:
    know(session)
    session.say(safety_lines(session.found(), text, session.screen.width))


def _sure(session: Session, text: str) -> None:
    """Who contradicts with a figure has told something new."""
    know(session)
    told = told_lines(session, text) if re.search(r"\d", text) and not phrases.ASKING.search(text) else []
    session.say([*told, *sure_lines(session.found(), session.screen.width)])


def _gain(session: Session, text: str) -> None:
    know(session)
    session.say(gain_lines(session.found(), session.screen.width))


def _crowd(session: Session, text: str) -> None:
    know(session)
    session.say(crowd_lines(session.found(), text, session.screen.width))


def _needs(session: Session, text: str) -> None:
    know(session)
    session.say(needs_lines(session.found(), session.screen.width))


def _now(session: Session, text: str) -> None:
    """What it is and does, as the session began with."""
    session.say(overview(session.glimpse(), session.screen.width))


def _beyond(session: Session, text: str) -> None:
    know(session)
    version = version_in(text)
    if version:
        session.say(version_lines(session.found(), version, session.screen.width))
        return
    session.say(beyond_lines(session.found(), text, session.screen.width))


def _means(session: Session, text: str) -> None:
    """The page of what is named, else of what was found."""
    know(session)
    board, width = session.desk.board(), session.screen.width
    chosen = _named(text, board) or board.supported
    if chosen:
        lines = page_lines(chosen[:MOST_PAGES], width)
        here = [f"Here: {cause_and_state(hypothesis)}." for hypothesis in chosen[:MOST_PAGES]]
        session.say([*lines, *(line for says in here for line in wrapped(says, width))])
    else:
        session.say(wrapped(session.found().summary, width))


def _named(text: str, board: Board) -> tuple[Hypothesis, ...]:
    named = hypotheses_named(text, board)
    return named or tuple(h for topic in topics_in(text) if (h := telling(topic, board)) is not None)


def _restart(session: Session, text: str) -> None:
    know(session)
    session.say(restart_lines(session.found(), session.screen.width))


def _self(session: Session, text: str) -> None:
    session.say(self_lines(session.mind, session.screen.width))


def _busy(session: Session, text: str) -> None:
    know(session)
    session.say(busy_lines(session.found(), session.screen.width))


ASIDES: dict[Kind, Callable[[Session, str], None]] = {
    "done": _done,
    "safe": _safe,
    "sure": _sure,
    "means": _means,
    "needs": _needs,
    "gain": _gain,
    "crowd": _crowd,
    "now": _now,
    "beyond": _beyond,
    "restart": _restart,
    "self": _self,
    "busy": _busy,
}
