"""A kept conversation taken up again: the same evidence under the same ids, and so the same board. Approvals are not
among what is kept."""

from collections.abc import Sequence

from ppagent.agent.choosing import ToolCall, Usage
from ppagent.agent.state import State
from ppagent.chat.acts import acts_in
from ppagent.chat.kept import SERVING, Kept, Row, kept_in
from ppagent.chat.past import Serving
from ppagent.chat.session import Said, Session
from ppagent.errors import UserError
from ppagent.evidence.evidence import Missing
from ppagent.sessions import Session as Saved


def restore(session: Session, saved: Saved) -> None:
    """Puts what was kept into a new session. Raises UserError where the file does not hold what it should."""
    try:
        kept = kept_in(saved)
        missing = [Missing(str(row["tool"]), str(row["missing"])) for row in kept.calls if row.get("missing")]
        session.said = [Said(row["who"], str(row["text"])) for row in saved.of("said")]
        session.words = list(kept.words)
        session.acts = acts_in(saved)
        session.serving = _serving(saved.of(SERVING)[-1:])
        session.state = _state(session, saved.of("tool"), kept)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"The session {session.id} is damaged: {error}.", "Begin a new one.") from error
    session.archive, session.before = list(kept.archive), kept.before
    session.desk.ledger.taken = kept.taken
    session.desk.ledger.evidence[:] = kept.evidence
    for item in missing:
        session.desk.ledger.add_missing(item)
    _costs(session, saved.of("cost"))


def _state(session: Session, rows: Sequence[Row], kept: Kept) -> State:
    """What was asked and answered. A question that was denied or cut short may be asked again."""
    counted: dict[str, int] = {}
    for call in _calls(rows):
        offer = session.desk.toolbox.find(call.tool)
        grade = str(int(offer.grade)) if offer is not None else "0"
        counted[grade] = counted.get(grade, 0) + 1
    asked = list(dict.fromkeys(call.key for call in _calls(kept.calls)))
    return State({**session.state, "asked": asked, "tool_calls": counted, "evidence": [e.id for e in kept.evidence]})


def _calls(rows: Sequence[Row]) -> list[ToolCall]:
    return [ToolCall(row["tool"], row["why"], row["arguments"]) for row in rows if not row.get("taken_in")]


def _serving(rows: Sequence[Row]) -> dict[str, Serving]:
    return {host: Serving(int(each["pid"]), str(each["mark"])) for row in rows for host, each in row["hosts"].items()}


def _costs(session: Session, rows: Sequence[Row]) -> None:
    if rows:
        last = rows[-1]
        session.seconds = float(last.get("seconds", 0.0))
        session.spent = Usage(int(last.get("tokens", 0)), float(last.get("usd", 0.0)))
