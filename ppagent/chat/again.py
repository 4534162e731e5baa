"""A second look at a live server.

What was found by then becomes what was before: its ids stay, it can be read and compared with, and nothing is concluded
from it any more. Where the same command runs, what was measured and tried under it still counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ppagent.brains.rules import RulesBrain
from ppagent.chat.answers.overview import overview
from ppagent.chat.kept import AGAIN, CARRIED, SERVING, label_of
from ppagent.chat.looking import first_look
from ppagent.chat.measures import MEASURES, TRIES
from ppagent.chat.past import Before, Serving
from ppagent.chat.session import Session
from ppagent.chat.wording import id_ranges
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.plugins import ToolContext
from ppagent.report.lines import Line, wrapped
from ppagent.targets.target import Target

LASTING = (MEASURES, *TRIES)
"""Tools whose answers hold for every start of one launch command."""


def remember_server(session: Session, now: Mapping[str, Serving]) -> None:
    """Which server the evidence is of."""
    session.serving, session.ended = dict(now), False
    session.record(SERVING, hosts={host: {"pid": each.pid, "mark": each.mark} for host, each in now.items()})


def begin_again(session: Session, target: Target, now: Mapping[str, Serving], why: str) -> None:
    """Looks at `target` as if for the first time, and says what was found. `why` is said first."""
    before = _set_aside(session, target)
    remember_server(session, now)
    first_look(session)
    _carry_over(session, before)
    width = session.screen.width
    kept = id_ranges(tuple(item.id for item in before))
    lines = (
        wrapped(f"{why} What was found before ({kept}) stays readable, and counts no more.", width) if before else []
    )
    session.say([*lines, *_carried_lines(session, width), *overview(session.glimpse(), width)])


def _set_aside(session: Session, target: Target) -> tuple[Evidence, ...]:
    """Takes the evidence out of what is concluded from, and begins anew."""
    found = tuple(session.desk.ledger.evidence)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    session.archive += [item for item in found if item not in session.archive]
    if found:
        session.before = Before(label_of(found, at), found)
    session.record(AGAIN, until=at)
    session.think_with(RulesBrain())
    desk = session.desk
    taken = max((int(item.id[1:]) for item in session.archive), default=0)
    session.take_desk(replace(desk, context=ToolContext(target), ledger=Ledger(taken=taken), plan=None, _judged=None))
    return found


def _carry_over(session: Session, before: Sequence[Evidence]) -> None:
    """Measurements under the very launch that runs now."""
    then, now = Facts(before), session.desk.facts()
    for name in ("launch.command", "engine.version"):
        if not now.text(name) or then.text(name) != now.text(name):
            return
    carried = [item for item in before if item.tool in LASTING]
    if carried:
        session.desk.ledger.evidence[:0] = carried
        session.record(CARRIED, ids=[item.id for item in carried])


def _carried_lines(session: Session, width: int) -> list[Line]:
    carried = tuple(item.id for item in session.desk.ledger.evidence if item in session.archive)
    if not carried:
        return []
    says = f"It was launched by the same command, so that what was measured under it counts: {id_ranges(carried)}."
    return wrapped(says, width)
