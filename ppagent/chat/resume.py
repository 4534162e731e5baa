"""A kept conversation taken up again: the same evidence under the same ids, and so the same board. Approvals are not
among what is kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from ppagent.agent.choosing import ToolCall, Usage
from ppagent.agent.state import State
from ppagent.chat.session import Said, Session
from ppagent.errors import UserError
from ppagent.evidence.evidence import Evidence, Missing
from ppagent.sessions import Session as Saved

Row = Mapping[str, Any]


def restore(session: Session, saved: Saved) -> None:
    """Puts what was kept into a new session. Raises UserError where the file does not hold what it should."""
    rows = saved.of("tool")
    try:
        evidence = evidence_in(saved)
        missing = [Missing(str(row["tool"]), str(row["missing"])) for row in rows if row.get("missing")]
        session.said = [Said(row["who"], str(row["text"])) for row in saved.of("said")]
        session.words = [str(row["text"]) for row in saved.of("words")]
        session.state = _state(session, rows, evidence)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"The session {session.id} is damaged: {error}.", "Begin a new one.") from error
    session.desk.ledger.evidence[:] = evidence
    for item in missing:
        session.desk.ledger.add_missing(item)
    _costs(session, saved.of("cost"))


def evidence_in(saved: Saved) -> list[Evidence]:
    """The evidence of a kept session. Raises KeyError, TypeError or ValueError where it is damaged."""
    items = [_evidence(row) for call in saved.of("tool") for row in call.get("evidence") or ()]
    for number, item in enumerate(items, 1):
        if item.id != f"E{number}":
            raise ValueError(f"E{number} is missing")
    return items


def _evidence(row: Row) -> Evidence:
    if not isinstance(row["facts"], dict):
        raise TypeError("facts are no table")
    texts = {name: str(row[name]) for name in ("id", "tool", "artifact", "excerpt", "host", "at")}
    return Evidence(facts=row["facts"], authority=int(row["authority"]), **texts)


def _state(session: Session, rows: Sequence[Row], evidence: Sequence[Evidence]) -> State:
    """What was asked and answered. A question that was denied or cut short may be asked again."""
    calls = [ToolCall(row["tool"], row["why"], row["arguments"]) for row in rows if not row.get("taken_in")]
    counted: dict[str, int] = {}
    for call in calls:
        offer = session.desk.toolbox.find(call.tool)
        grade = str(int(offer.grade)) if offer is not None else "0"
        counted[grade] = counted.get(grade, 0) + 1
    asked = list(dict.fromkeys(call.key for call in calls))
    return State({**session.state, "asked": asked, "tool_calls": counted, "evidence": [e.id for e in evidence]})


def _costs(session: Session, rows: Sequence[Row]) -> None:
    if rows:
        last = rows[-1]
        session.seconds = float(last.get("seconds", 0.0))
        session.spent = Usage(int(last.get("tokens", 0)), float(last.get("usd", 0.0)))
