"""What a statement of the person changes."""

from ppagent.agent.board import Board
from ppagent.chat.answers.cause import cause_in_short
from ppagent.chat.looking import investigate
from ppagent.chat.session import Session
from ppagent.chat.words import tell
from ppagent.report.lines import Line, wrapped

SAYS_SOMETHING = 2
"""Pieces of evidence: the words themselves, and at least one thing that was read from them."""


def told_lines(session: Session, text: str) -> list[Line]:
    """Takes the words down and says what they move; empty where nothing could be read from them."""
    before = session.desk.board() if session.looked else None
    added = tell(session, text)
    if len(added) < SAYS_SOMETHING:
        return []
    investigate(session)
    width = session.screen.width
    ids = " ".join(item.id for item in added)
    lines = wrapped(f"Taken down as {ids}: what you say is evidence, the weakest there is.", width)
    moved = _moved(before, session.desk.board()) if before is not None else ()
    for says in moved or ("It changes no cause's state.",):
        lines += wrapped(says, width, "  ")
    return lines


def _moved(before: Board, after: Board) -> tuple[str, ...]:
    """Causes whose state has changed."""
    states = {h.cause_id: h.state for h in before.hypotheses}
    return tuple(f"{cause_in_short(h)}." for h in after.hypotheses if states.get(h.cause_id) != h.state)
