"""Notices that a live server was started anew, has ended, or cannot be reached, before anything is said of it."""

from collections.abc import Mapping

from ppagent.chat.again import begin_again, remember_server
from ppagent.chat.looking import at_work
from ppagent.chat.past import Serving
from ppagent.chat.serving import serving, still
from ppagent.chat.session import Session
from ppagent.chat.wording import duration
from ppagent.errors import UserError
from ppagent.plugins import ToolContext
from ppagent.report.lines import wrapped
from ppagent.targets.live import LiveTarget
from ppagent.targets.open import open_target
from ppagent.targets.remote.link import LinkLost

Now = Mapping[str, Serving]


def note_server(session: Session) -> None:
    """Remembers which server the evidence is of."""
    target = session.desk.context.target
    if not isinstance(target, LiveTarget):
        return
    try:
        remember_server(session, serving(target, session.port))
    except LinkLost:  # the next message begins with a look at the connection
        return


def look_out(session: Session) -> None:
    """Looks whether the servers are those that the evidence is of; looks again where they were started anew."""
    target = session.desk.context.target
    if not isinstance(target, LiveTarget):
        return
    if not session.serving:
        note_server(session)
        return
    with at_work(session), session.screen.working(f"looking whether {target.name} is as it was"):
        if _as_it_was(session, target):
            return
        fresh, now = _opened(session)
    if fresh is None:
        _say(session, f"{target.name} cannot be reached now. What was found stays, and nothing new is found.")
        return
    if gone := [host for host in session.serving if host not in now]:
        fresh.close()
        _say_ended(session, gone)
        return
    _take(session, target, fresh, now)


def look_again(session: Session) -> None:
    """Looks afresh because the person wants it. Raises UserError for what is no live server."""
    target = session.desk.context.target
    if not isinstance(target, LiveTarget):
        raise UserError(
            "This is no live server: a second look finds the same.",
            "After a change, begin a session about the live one, or record it again.",
        )
    with at_work(session), session.screen.working(f"connecting to {target.name}"):
        fresh, now = _opened(session)
    if fresh is None:
        raise UserError(f"{target.name} cannot be reached now.", "What was found stays.")
    begin_again(session, fresh, now, "I have looked again.")
    target.close()


def _take(session: Session, target: LiveTarget, fresh: LiveTarget, now: Now) -> None:
    """The new connection in the place of the old one, with the evidence where it is of these very servers."""
    if all(each.same_as(now.get(host)) for host, each in session.serving.items()):
        session.desk.context = ToolContext(fresh)
        session.ended = False
    else:
        begin_again(session, fresh, now, _started_anew(session.serving, now))
    target.close()


def _as_it_was(session: Session, target: LiveTarget) -> bool:
    try:
        return still(target, session.serving, session.port)
    except LinkLost:
        return False


def _opened(session: Session) -> tuple[LiveTarget | None, Now]:
    """A connection of now, and what serves there; None where there is no way to it."""
    try:
        fresh = open_target(session.target_text, port=session.port)
    except UserError:
        return None, {}
    if not isinstance(fresh, LiveTarget):
        return None, {}
    try:
        return fresh, serving(fresh, session.port)
    except LinkLost:
        fresh.close()
        return None, {}


def _started_anew(before: Now, now: Now) -> str:
    """Which server, in words."""
    told = []
    for host, new in now.items():
        old = before.get(host)
        if new.same_as(old):
            continue
        was = f"process {old.pid} before, process {new.pid} now" if old is not None and new.pid else "another start"
        up = f", up for {duration(new.age_s)}" if new.age_s is not None else ""
        told.append(f"{host} ({was}{up})")
    return f"The server was started anew on {'; '.join(told)}, so I have looked again."


def _say_ended(session: Session, hosts: list[str]) -> None:
    if session.ended:
        return
    session.ended = True
    told = ", ".join(f"{host} (process {session.serving[host].pid} has ended)" for host in hosts)
    _say(session, f"No server runs now on {told}. What was found is of before that.")


def _say(session: Session, text: str) -> None:
    session.say(wrapped(text, session.screen.width))
