"""The one exception tree. Anything raised outside it is a bug and is left to crash loudly."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit statuses of the command line; part of its contract."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_ENOUGH_EVIDENCE = 3
    BLOCKED_BY_POLICY = 4
    BUDGET_USED_UP = 5
    CANCELLED = 130


class PpagentError(Exception):
    """Base of every error that is meant for a person or for the board."""


class UserError(PpagentError):
    """Something the user can put right: one sentence of what is wrong, one of what to do."""

    def __init__(self, wrong: str, advice: str, status: ExitStatus = ExitStatus.USAGE) -> None:
        super().__init__(f"{wrong} {advice}")
        self.wrong = wrong
        self.advice = advice
        self.status = status


class ToolError(PpagentError):
    """A tool could not answer. It goes to the board as missing evidence, never to the user as a traceback."""


class NotRecorded(ToolError):
    """The target holds no such artifact. An answer of its own: what is not there was not recorded."""
