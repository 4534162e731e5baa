"""The conversation: reads, answers, and outlives whatever an answer runs into."""

from typing import Protocol

from ppagent.chat.acts import as_left_lines
from ppagent.chat.commands.command import Leave, Switch
from ppagent.chat.keys import hushed
from ppagent.chat.session import Session
from ppagent.errors import PpagentError
from ppagent.report.lines import BLANK, Line, wrapped

ASK_TO_LEAVE = "leave? [y]es, [n]o > "
KEPT = "Told to end. What was found by then is kept."
STOPPED = "Stopped. What was found by then is kept: ask about it, or say go on."


class Person(Protocol):
    """Whoever types. `read` gives a message, `ask` the answer to one question."""

    def read(self) -> str: ...

    def ask(self, question: str) -> str: ...


def talk(session: Session, person: Person) -> str | None:
    """Talks until the person leaves, or wants another session, whose id is returned."""
    while not session.halt.ended_by:
        try:
            text = person.read().strip()
            if text:
                with hushed():
                    take_turn(session, text)
        except KeyboardInterrupt:
            if session.halt.ended_by or _wants_to_leave(person):
                return None
        except (EOFError, Leave):
            return None
        except Switch as switch:
            return switch.session_id
    return None


def take_turn(session: Session, text: str) -> None:
    """One message and its answer. An error for the person is shown; Ctrl-C ends the work and not the session."""
    session.screen.show([BLANK])
    begun = len(session.acts)
    try:
        _answer(session, text)
    except KeyboardInterrupt:
        kept = wrapped(KEPT if session.halt.ended_by else STOPPED, session.screen.width)
        session.say([*as_left_lines(session, begun), *kept])
    except PpagentError as error:
        told = wrapped(str(error), session.screen.width, tone="bad")
        session.say([*told, *as_left_lines(session, begun)])
    finally:
        cost = session.cost()
        session.record("cost", seconds=round(cost.seconds, 3), tokens=cost.tokens, usd=cost.usd)
        session.screen.show([BLANK])


def _answer(session: Session, text: str) -> None:
    """What answers is loaded with the first message, so that the first prompt does not wait for it."""
    from ppagent.chat.commands.registry import run_command
    from ppagent.chat.replies import reply

    heard = session.hear(text)
    if session.serving:
        from ppagent.chat.lookout import look_out

        look_out(session)
    if heard.startswith("/"):
        run_command(session, heard)
    else:
        reply(session, heard)


def _wants_to_leave(person: Person) -> bool:
    """The second Ctrl-C, and the end of the input, are a yes."""
    try:
        return person.ask(ASK_TO_LEAVE).strip().lower() in ("y", "yes")
    except (KeyboardInterrupt, EOFError):
        return True


def greeting(session: Session) -> list[Line]:
    """What to do now."""
    width = session.screen.width
    hint = f"Ask in your own words (why is it slow?), or /help. Session {session.id}, {session.mind}."
    return [BLANK, *wrapped(hint, width, tone="dim"), BLANK]
