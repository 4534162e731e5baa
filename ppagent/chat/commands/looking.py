"""Commands that show what is known."""

import re

from ppagent.agent.board import Hypothesis
from ppagent.chat.answers.board import board_lines
from ppagent.chat.answers.cause import cause_lines
from ppagent.chat.answers.evidence import evidence_lines, evidence_list
from ppagent.chat.answers.topics import hypotheses_named, telling, topics_in
from ppagent.chat.commands.command import Command
from ppagent.chat.looking import know
from ppagent.chat.session import Session
from ppagent.errors import UserError
from ppagent.evidence.evidence import Evidence
from ppagent.report.lines import BLANK, Line

MOST_CAUSES = 3
_EVIDENCE = re.compile(r"[Ee](\d+)(?:\s*-\s*[Ee]?(\d+))?")


def board(session: Session, words: str) -> None:
    """Every cause with its state."""
    know(session)
    session.say(board_lines(session.found(), session.screen.width))


def why(session: Session, words: str) -> None:
    """One cause, with what speaks for and against it; the supported ones where none is named."""
    know(session)
    found = session.found()
    chosen = _chosen(session, words)
    if not chosen:
        raise UserError(f"No cause is called {words}." if words else "No cause is supported.", "/board lists them.")
    lines: list[Line] = []
    for hypothesis in chosen[:MOST_CAUSES]:
        lines += [BLANK] * bool(lines) + cause_lines(hypothesis, found, session.screen.width)
    session.say(lines)


def evidence(session: Session, words: str) -> None:
    """All evidence in a line each, or some of it whole."""
    found = session.found()
    wanted = [number for match in _EVIDENCE.finditer(words) for number in _numbers(match)]
    if words and not wanted:
        raise UserError(f"{words} names no evidence.", "Write /evidence E7.")
    if not wanted:
        session.say(evidence_list(found, session.archive, session.screen.width))
        return
    items = [item for number in dict.fromkeys(wanted) if (item := session.evidence_of(number)) is not None]
    if not items:
        advice = f"The last is {found.evidence[-1].id}." if found.evidence else "Nothing was found yet."
        raise UserError(f"There is no evidence {words}.", advice)
    session.say([line for item in items for line in _unfolded(session, item)])


def _unfolded(session: Session, item: Evidence) -> list[Line]:
    lines = evidence_lines(item, session.screen.width)
    past = item not in session.desk.ledger.evidence
    return [*lines, Line("  (of before: nothing is concluded from it any more)", "dim")] if past else lines


def again(session: Session, words: str) -> None:
    """Looks at the live server afresh."""
    from ppagent.chat.lookout import look_again

    look_again(session)


def _chosen(session: Session, words: str) -> tuple[Hypothesis, ...]:
    board_now = session.desk.board()
    if not words:
        return board_now.supported
    named = hypotheses_named(words, board_now)
    return named or tuple(h for topic in topics_in(words) if (h := telling(topic, board_now)) is not None)


def _numbers(match: re.Match[str]) -> range:
    first = int(match[1])
    return range(first, int(match[2] or first) + 1)


COMMANDS = (
    Command("board", "", "Shows every cause with its state.", board),
    Command("why", "[CAUSE]", "Shows what speaks for and against a cause: /why PP001, /why kv pool.", why, "causes"),
    Command("again", "", "Looks at the live server afresh; what was found so far is kept as what was before.", again),
    Command("evidence", "[E7]", "Lists the evidence, or shows a piece of it whole.", evidence, "evidence"),
)
