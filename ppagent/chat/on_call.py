"""Answers to what whoever is on call asks around the diagnosis: what ran, what comes next, what to watch, and what of
this card or of these pasted lines."""

from collections.abc import Callable

from ppagent.chat.answers.board import board_lines
from ppagent.chat.answers.brief import brief_lines
from ppagent.chat.answers.card import card_lines
from ppagent.chat.answers.cards import cards_lines
from ppagent.chat.answers.helped import foretold_lines, keep_lines, tried_in
from ppagent.chat.answers.launches import LAUNCH, flags_in, pasted_lines
from ppagent.chat.answers.measured import trial_lines
from ppagent.chat.answers.network import network_lines
from ppagent.chat.answers.paste import paste_lines
from ppagent.chat.answers.ran import ran_lines
from ppagent.chat.answers.restart_helps import restart_helps_lines
from ppagent.chat.answers.then import then_lines
from ppagent.chat.answers.trouble import trouble_lines
from ppagent.chat.answers.values import figure_in, figure_lines
from ppagent.chat.answers.waiting import how_long_lines, nothing_lines
from ppagent.chat.answers.watch import watch_lines
from ppagent.chat.answers.why import why_lines
from ppagent.chat.looking import investigate, know
from ppagent.chat.questions import Kind
from ppagent.chat.session import Session
from ppagent.chat.spelling import as_meant
from ppagent.report.lines import wrapped
from ppagent.targets.pasted import read_pasted


def _ran(session: Session, text: str) -> None:
    asked = session.state["asked"]
    session.say(ran_lines(session.found(), session.desk.toolbox, asked, session.acts, session.screen.width))


def _happened(session: Session, text: str) -> None:
    """What was begun last, where it did not end as it should; else why it is slow."""
    from ppagent.chat.asides import ASIDES

    if session.acts and session.acts[-1].ended != "done":
        ASIDES["done"](session, text)
        return
    investigate(session, text)
    session.say(why_lines(session.found(), "", session.screen.width))


def _foretold(session: Session, text: str) -> None:
    """Beside what was measured, where it was tried."""
    know(session)
    width = session.screen.width
    lines = foretold_lines(session.found(), width)
    tried = trial_lines(tried_in((*session.archive, *session.desk.ledger.evidence))[-1:], width)
    session.say([*tried, *lines] or wrapped("No forecast was made: nothing is proposed that has one.", width))


def _keep(session: Session, text: str) -> None:
    know(session)
    evidence = (*session.archive, *session.desk.ledger.evidence)
    session.say(keep_lines(session.found(), evidence, session.screen.width))


def _restart_helps(session: Session, text: str) -> None:
    know(session)
    session.say(restart_helps_lines(session.found(), session.screen.width))


def _brief(session: Session, text: str) -> None:
    know(session)
    session.say(brief_lines(session.found(), session.screen.width))


def _trouble(session: Session, text: str) -> None:
    know(session)
    session.say(trouble_lines(session.found(), session.screen.width))


def _cards(session: Session, text: str) -> None:
    know(session)
    session.say(cards_lines(session.found(), session.screen.width))


def _value(session: Session, text: str) -> None:
    """A figure as it is in force; no investigation is needed where the first look told it."""
    figure = figure_in(as_meant(text))
    if figure is None:
        raise AssertionError("a figure is what was asked for")
    if not figure.tells(session.glimpse().facts):
        know(session)
    session.say(figure_lines(session.glimpse(), figure, session.screen.width))


def _launch(session: Session, text: str) -> None:
    command = text if LAUNCH.search(text) else flags_in(text)
    session.say(pasted_lines(session.found(), command, session.screen.width))


def _else(session: Session, text: str) -> None:
    """Every cause with its state: what was found, what is open, and what is ruled out."""
    know(session)
    session.say(board_lines(session.found(), session.screen.width))


def _then(session: Session, text: str) -> None:
    know(session)
    session.say(then_lines(session.found(), session.shown, session.screen.width))


def _watch(session: Session, text: str) -> None:
    know(session)
    session.say(watch_lines(session.found(), session.screen.width))


def _nothing(session: Session, text: str) -> None:
    know(session)
    session.say(nothing_lines(session.found(), session.screen.width))


def _how_long(session: Session, text: str) -> None:
    know(session)
    session.say(how_long_lines(session.found(), session.screen.width))


def _card(session: Session, text: str) -> None:
    know(session)
    session.say(card_lines(session.found(), text, session.screen.width))


def _network(session: Session, text: str) -> None:
    know(session)
    session.say(network_lines(session.found(), session.screen.width))


def _log(session: Session, text: str) -> None:
    know(session)
    session.say(paste_lines(session.found(), session.desk.toolbox, read_pasted(text), session.screen.width))


ON_CALL: dict[Kind, Callable[[Session, str], None]] = {
    "ran": _ran,
    "then": _then,
    "watch": _watch,
    "nothing": _nothing,
    "how_long": _how_long,
    "card": _card,
    "network": _network,
    "log": _log,
    "happened": _happened,
    "foretold": _foretold,
    "keep": _keep,
    "restart_helps": _restart_helps,
    "brief": _brief,
    "trouble": _trouble,
    "cards": _cards,
    "value": _value,
    "launch": _launch,
    "else": _else,
}
