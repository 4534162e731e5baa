"""A target on whose hosts a further command can be run. Recordings are none."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ppagent.targets.remote.link import Ran


@runtime_checkable
class Commanded(Protocol):
    """What the shell tools ask of a target."""

    def command(self, host: str, argv: Sequence[str], timeout_s: float) -> Ran:
        """Runs a command to its end, or until its time is up. Raises ToolError where it cannot be started."""
        ...

    def places(self, host: str) -> tuple[str, ...]:
        """Absolute paths of the server's own files and folders: its package, its model, its log."""
        ...
