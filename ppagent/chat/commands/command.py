"""What a command of a session is, and the two ways in which one can end the conversation it is in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ppagent.chat.session import Session

Completes = Literal["", "causes", "evidence", "proposals", "settings", "sessions", "exports", "commands", "brains"]
Run = Callable[[Session, str], None]


@dataclass(frozen=True)
class Command:
    """One slash command. Help, completion and documentation come out of this."""

    name: str
    takes: str
    """Its arguments as the help shows them; empty where it takes none."""
    does: str
    """One sentence."""
    run: Run
    completes: Completes = ""
    """What its argument is completed from."""

    @property
    def synopsis(self) -> str:
        return f"/{self.name} {self.takes}".rstrip()


class Leave(Exception):
    """The person wants to end the session."""


class Switch(Exception):
    """The person wants to go on with another session."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id
