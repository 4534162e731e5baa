"""Commands about the session itself."""

from pathlib import Path

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.choosing import Usage
from ppagent.brains.brain import brain_of
from ppagent.brains.rules import RulesBrain
from ppagent.chat.answers.cost import cost_lines
from ppagent.chat.commands.command import Command, Leave, Switch
from ppagent.chat.session import Session
from ppagent.chat.steps import clipped
from ppagent.chat.store import MOST_LISTED, conversations
from ppagent.chat.voice import Voice
from ppagent.config import profile_of
from ppagent.errors import UserError
from ppagent.plugins import Grade
from ppagent.report.lines import Line

RULES = "rules"


def ceiling(session: Session, words: str) -> None:
    """The highest grade that needs no approval; only a person sets it, and for this session only."""
    desk = session.desk
    if words:
        if words not in {str(int(grade)) for grade in Grade}:
            raise UserError(f"{words!r} is no grade.", "Give a number from 0 to 5.")
        desk.ceiling = Grade(int(words))
        session.looked = False
    session.say(
        [
            Line(f"  {'without asking' if grade <= desk.ceiling else 'asks first':<15} {grade}  {means}")
            for grade, means in GRADE_MEANS.items()
        ]
    )


def model(session: Session, words: str) -> None:
    """Who chooses the questions: shown, or changed for the questions to come."""
    if words == RULES:
        session.think_with(RulesBrain())
        session.voice = None
    elif words:
        profile = profile_of(words)
        if profile is None:
            raise UserError(f"There is no model {words}.", "docs/llm.md tells how to name one.")
        session.voice = Voice(profile, session.voice.spent if session.voice is not None else Usage())
        session.make_brain = lambda recorder: brain_of("llm", model=words, recorder=recorder)
        session.looked = False
    session.say([Line(f"  {session.mind}: /model rules or /model NAME changes it")])


def cost(session: Session, words: str) -> None:
    """What the session has cost."""
    session.say(cost_lines(session.found(), session.desk.budget))


def sessions(session: Session, words: str) -> None:
    """Kept conversations, newest first."""
    lines = []
    for kept in list(conversations())[:MOST_LISTED]:
        mark = "*" if kept.id == session.id else " "
        target = Path(kept.target).name
        text = f"{mark} {kept.id}  {target:<16}  E{kept.evidence:<4} {kept.question}"
        lines.append(clipped(Line(" ".join(text.split("\n"))), session.screen.width))
    session.screen.show([*lines, Line("  /resume ID goes on with one of them", "dim")])


def resume(session: Session, words: str) -> None:
    """Leaves this session for another one."""
    wanted = words or next((kept.id for kept in conversations() if kept.id != session.id), "")
    if not wanted:
        raise UserError("There is no other session.", "This one is kept as it goes.")
    raise Switch(wanted)


def leave(session: Session, words: str) -> None:
    """Ends the session; it is kept."""
    raise Leave


COMMANDS = (
    Command("ceiling", "[0-5]", "Shows or sets the highest grade of tool that needs no approval.", ceiling),
    Command("model", "[NAME]", "Shows or changes who chooses the questions: rules, or a model.", model, "brains"),
    Command("cost", "", "Tells what the session has cost so far.", cost),
    Command("sessions", "", "Lists the kept sessions.", sessions),
    Command("resume", "[ID]", "Goes on with another kept session, the newest by default.", resume, "sessions"),
    Command("quit", "", "Ends the session, which is kept. So does Ctrl-D.", leave),
)
