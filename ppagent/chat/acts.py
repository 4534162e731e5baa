"""What was begun in a session that does more than read, and how it ended: on the disk before it begins, so that a
session which was killed meanwhile still tells of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ppagent.chat.wording import call_in_short
from ppagent.errors import ToolError
from ppagent.evidence.masking import mask_value
from ppagent.plugins import Grade
from ppagent.report.lines import Line, wrapped
from ppagent.sessions import Session as Saved

if TYPE_CHECKING:
    from ppagent.chat.session import Session

Ended = Literal["", "done", "failed", "stopped"]
ACT, ENDED = "act", "act_ended"
"""Kinds of lines in a session's file."""
HOW: dict[Ended, str] = {
    "": "cut short with ppagent itself",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped by you",
}
TRIALS = ("tune.set_limit", "tune.relaunch")
"""Tools that change a server and put it back."""
AS_IT_WAS = "The trial {how}. Nothing of it is left on the server: its old setting stands."


@dataclass
class Act:
    """One tool at work that disturbs, loads or restarts a server."""

    tool: str
    arguments: dict[str, Any]
    grade: int
    ended: Ended = ""
    """Empty while it is at work, and for good where the process was killed meanwhile."""

    @property
    def call(self) -> str:
        return call_in_short(self.tool, self.arguments)


@contextmanager
def acting(session: "Session", tool: str, arguments: Mapping[str, Any], grade: int) -> Iterator[Act]:
    """While it lasts, the tool is at work. What only reads leaves no line."""
    act = Act(tool, dict(arguments), grade)
    if grade <= Grade.READ_HOST:
        yield act
        return
    session.acts.append(act)
    session.record(ACT, tool=tool, arguments=mask_value("arguments", act.arguments), grade=grade)
    try:
        yield act
        act.ended = act.ended or "done"
    except KeyboardInterrupt:
        act.ended = "stopped"
        raise
    finally:
        act.ended = act.ended or "failed"
        session.record(ENDED, how=act.ended)


def acts_in(saved: Saved) -> list[Act]:
    """Those of a kept session. Raises KeyError, TypeError or ValueError where the file is damaged."""
    acts: list[Act] = []
    for row in saved.rows:
        match row["kind"]:
            case kind if kind == ACT:
                acts.append(Act(str(row["tool"]), dict(row["arguments"]), int(row["grade"])))
            case kind if kind == ENDED and acts:
                acts[-1].ended = row["how"] if row["how"] in HOW else ""
    return acts


def left_lines(session: "Session") -> list[Line]:
    """What a trial has left behind on this very server, with the command that puts it back; empty where nothing is."""
    from ppagent.trials.left import left_on
    from ppagent.trials.note import restoring

    width = session.screen.width
    try:
        notes = left_on(session.desk.context.target, session.target_text)
    except ToolError as error:
        return wrapped(f"{error}.", width, tone="bad")
    lines: list[Line] = []
    for left in notes:
        lines += wrapped(f"{left.says}. Put it back with:", width, tone="bad")
        lines.append(Line(f"  {restoring(session.target_text, left.server)}", "command"))
    return lines


def as_left_lines(session: "Session", since: int) -> list[Line]:
    """How the server was left where a trial did not end as it should that was begun after so many acts."""
    begun = [act for act in session.acts[since:] if act.tool in TRIALS]
    how = {"stopped": "was stopped", "failed": "failed"}.get(begun[-1].ended) if begun else None
    if how is None:
        return []
    return left_lines(session) or wrapped(AS_IT_WAS.format(how=how), session.screen.width)
