"""Answers to questions about what to change: proposals, settings, flags, another shape."""

import re
from collections.abc import Callable

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.advice import advice_lines
from ppagent.chat.answers.flag import flag_lines
from ppagent.chat.answers.forecast import what_if_lines
from ppagent.chat.answers.levers import levers_in
from ppagent.chat.answers.proposals import hint_lines, proposals_in_short
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.answers.shape import shape_in, shape_lines
from ppagent.chat.answers.why import why_lines
from ppagent.chat.commands.registry import run_command
from ppagent.chat.looking import know
from ppagent.chat.offering import offer_trial
from ppagent.chat.questions import Kind
from ppagent.chat.session import Session
from ppagent.chat.spelling import as_meant
from ppagent.report.lines import BLANK, Line, raw, wrapped

MOST_FLAGS = 3
RELAUNCH = re.compile(r"\b(?:re-?start|relaunch|re-?boot)", re.I)


def _change(session: Session, text: str) -> None:
    know(session)
    found, width = session.found(), session.screen.width
    if not found.plan.proposals:
        nothing = wrapped("Nothing needs to be changed.", width) if found.verdict == "healthy" else []
        session.say([*nothing, *why_lines(found, "", width)])
        return
    session.say([*proposals_in_short(found, width), *hint_lines(found, width)])
    offer_trial(session)


def _what_if(session: Session, text: str) -> None:
    know(session)
    session.say(what_if_lines(session.found(), read_setting(as_meant(text)), session.screen.width))


def _flag(session: Session, text: str) -> None:
    """Each flag that is named, as it is written or called."""
    found, width = session.found(), session.screen.width
    lines: list[Line] = []
    for flag in levers_in(text)[:MOST_FLAGS]:
        lines += [BLANK] * bool(lines) + flag_lines(found, flag, width)
    session.say(lines)


def _advice(session: Session, text: str) -> None:
    know(session)
    session.say(advice_lines(session.found(), levers_in(text), text, session.screen.width))


def _shape(session: Session, text: str) -> None:
    know(session)
    session.say(shape_lines(session.found(), shape_in(text), session.screen.width))


def _proposal(session: Session, text: str) -> None:
    known = [f"P{match}" for match in re.findall(r"\b[Pp](\d{1,2})\b", text)]
    run_command(session, f"/propose {known[0]}")


def _command(session: Session, text: str) -> None:
    """The command of what was shown last, else of the first proposal that has one."""
    know(session)
    found = session.found()
    ready = [proposal.id for proposal in found.plan.proposals if proposal.command and _fits(proposal.kind, text)]
    if not ready:
        _change(session, text)
        session.screen.show(_launch_now(found, session.screen.width))
        return
    named = [match.upper() for match in re.findall(r"\bP\d{1,2}\b", text, re.I)]
    chosen = next((each for each in (*named, session.shown, ready[0]) if each in ready), ready[0])
    run_command(session, f"/propose {chosen}")
    others = [each for each in ready if each != chosen]
    if others:
        session.screen.show([Line(f"  others: {', '.join(f'/propose {each}' for each in others)}", "dim")])


def _fits(kind: str, text: str) -> bool:
    """Whether a proposal of this kind has the command that is wanted: a restart's is a launch command."""
    return kind == "relaunch" or not RELAUNCH.search(text)


def _launch_now(found: Investigation, width: int) -> list[Line]:
    """The command that runs now, which starts the server again as it is."""
    fact = found.facts.get("launch.command")
    if fact is None or not isinstance(fact.value, str):
        return []
    lines = wrapped(f"The launch command that runs now [{fact.evidence}]:", width, "  ")
    return [BLANK, *lines, BLANK, *raw(fact.value, "    ")]


def _try(session: Session, text: str) -> None:
    """As the command does, which shows first what it would do."""
    named = re.search(r"\b[Pp]\d+\b|\blimit \d+", text)
    run_command(session, f"/try {named.group() if named else ''}".rstrip())


ABOUT_SETTINGS: dict[Kind, Callable[[Session, str], None]] = {
    "change": _change,
    "what_if": _what_if,
    "flag": _flag,
    "advice": _advice,
    "shape": _shape,
    "proposal": _proposal,
    "try": _try,
    "command": _command,
}
