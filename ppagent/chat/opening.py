"""Opens a session: a new one about a target, or a kept one to go on with."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ppagent.agent.budget import Budget
from ppagent.agent.choosing import Brain
from ppagent.agent.desk import Desk
from ppagent.agent.recording import head_of
from ppagent.agent.toolbox import open_toolbox
from ppagent.brains.rules import RulesBrain
from ppagent.chat.acts import left_lines
from ppagent.chat.answers.overview import overview
from ppagent.chat.consent import Consent, Dialog
from ppagent.chat.gone import Gone
from ppagent.chat.halt import Halt
from ppagent.chat.later import CausesLater, plan_later
from ppagent.chat.looking import first_look
from ppagent.chat.resume import restore
from ppagent.chat.screen import Screen
from ppagent.chat.session import Session
from ppagent.chat.store import CHAT, ChatFile, open_saved, session_path
from ppagent.config import ModelProfile
from ppagent.errors import UserError
from ppagent.plugins import Grade, ToolContext, discover
from ppagent.report.lines import Line, wrapped
from ppagent.sessions import FIRST_KIND, Recorder, new_session
from ppagent.targets.open import open_target
from ppagent.targets.target import Target

PASTED = "-"
NOT_YET = "/again looks afresh, once it serves."


def only_rules(recorder: Recorder) -> Brain:
    """The brain that needs no set-up."""
    return RulesBrain()


@dataclass(frozen=True)
class Options:
    """How a session is to be held."""

    screen: Screen
    brain: Callable[[Recorder], Brain] = only_rules
    """Makes the brain for a question, where there is a model to ask."""
    profile: ModelProfile | None = None
    """The model to ask; None for the rules alone."""
    dialog: Dialog | None = None
    ceiling: Grade = Grade.READ_HOST
    budget: Budget = field(default_factory=Budget)
    port: int | None = None
    stdin: TextIO = field(default_factory=io.StringIO)
    halt: Halt = field(default_factory=Halt)
    """Hears of the signals that end the process, whichever session is at work."""


def begin(target_text: str, options: Options) -> Session:
    """A new session, after a first look at the target. Raises UserError where there is no such target."""
    target = open_target(target_text, options.stdin, port=options.port)
    session_id = new_session()
    file = ChatFile(session_path(session_id))
    session = _session(session_id, lasting_name(target_text), target, file, options)
    session.record(FIRST_KIND, **head_of(session.desk, session_id), **{CHAT: session.target_text, "port": options.port})
    try:
        first_look(session)
    except KeyboardInterrupt:
        session.screen.show(wrapped("Stopped looking; ask, or say go on.", session.screen.width))
    session.screen.show(overview(session.glimpse(), session.screen.width))
    if session.live:
        from ppagent.chat.lookout import note_server

        note_server(session)
        if not session.serving and not session.desk.facts().text("engine.version"):
            session.screen.show(wrapped(NOT_YET, session.screen.width, "  "))
        session.screen.show(left_lines(session))
    return session


def take_up(session_id: str, options: Options) -> Session:
    """A kept session, with the same evidence and board; the newest where no id is given. Approvals begin anew."""
    saved = open_saved(session_id)
    named, target_text = str(saved.head["session"]), str(saved.head[CHAT])
    file = ChatFile(session_path(named))
    port = options.port if options.port is not None else saved.head.get("port")
    target, lost = _opened_again(target_text, port)
    session = _session(named, target_text, target, file, options)
    session.port = port
    restore(session, saved)
    session.record("resumed")
    session.screen.show([*overview(session.glimpse(), session.screen.width), *_resumed(session, lost)])
    if session.live:
        from ppagent.chat.lookout import look_out

        look_out(session)
        session.screen.show(left_lines(session))
    return session


def leave(session: Session) -> str:
    """Closes the session's file; what to say of it. A session in which nothing was said is not kept."""
    file = session.desk.recorder
    if not isinstance(file, ChatFile):
        return ""
    if not session.said:
        file.discard()
        return ""
    file.close()
    return f"kept: ppagent chat --resume {session.id}"


def lasting_name(target_text: str) -> str:
    """The target's name as it holds from any folder."""
    path = Path(target_text).expanduser()
    return str(path.resolve()) if target_text != PASTED and path.exists() else target_text


def _session(session_id: str, target_text: str, target: Target, recorder: Recorder, options: Options) -> Session:
    desk = Desk(
        context=ToolContext(target),
        toolbox=open_toolbox(discover(), target.kind),
        brain=RulesBrain(),
        planner=plan_later,
        budget=options.budget,
        ceiling=options.ceiling,
        can_ask=options.dialog is not None,
        recorder=recorder,
        causes=CausesLater(),
    )
    consent = Consent(options.screen, options.dialog)
    voice = None
    if options.profile is not None:
        from ppagent.chat.voice import Voice

        voice = Voice(options.profile)
    return Session(
        session_id,
        target_text,
        desk,
        options.screen,
        consent,
        options.port,
        make_brain=options.brain,
        voice=voice,
        halt=options.halt,
    )


def _opened_again(target_text: str, port: int | None) -> tuple[Target, str]:
    """The target, and why it is not there where it is not: what was found stays usable all the same."""
    name = Path(target_text).name or target_text
    if target_text == PASTED:
        return Gone("the pasted text"), "the pasted text is not kept, only what was found in it"
    try:
        return open_target(target_text, port=port), ""
    except UserError as error:
        return Gone(name), str(error)


def _resumed(session: Session, lost: str) -> list[Line]:
    width = session.screen.width
    asked = [message.text for message in session.said if message.who == "user"]
    count = len(session.desk.ledger.evidence)
    messages = f"{len(asked)} message{'' if len(asked) == 1 else 's'}"
    lines = wrapped(f"Resumed: {count} pieces of evidence, {messages}; approvals begin anew.", width)
    if asked:
        lines += wrapped(f'"{" ".join(asked[-1].split())}"', width, f"  {'last':<10}")
    if session.acts and not session.acts[-1].ended:
        lines += wrapped(f"{session.acts[-1].call} was at work", width, f"  {'cut short':<10}", tone="bad")
    return lines + (wrapped(lost, width, f"  {'missing':<10}", tone="bad") if lost else [])
