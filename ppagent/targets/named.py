"""A target that can be named once more in a command: a live one."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Named(Protocol):
    """What a report asks of a target to say what to run next on it."""

    @property
    def words(self) -> str:
        """It as words of a command line, with the port where one was chosen; empty where nobody named it."""
        ...
