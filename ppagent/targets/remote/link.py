"""A way to a host: commands as argument lists, and connections from the host itself. Nothing above knows which way."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ppagent.errors import ToolError

GRACE_S = 5.0
"""How long after a command's own limit its end is awaited before it counts as lost."""
LARGEST_OUTPUT = 16 << 20
LARGEST_ERROR = 64 << 10


_OF_DOCKER = re.compile(r"(?is)(permission denied while trying to connect to the docker \w+)\b.*")


class LinkLost(ToolError):
    """The connection to the host is gone."""


def speaks_of_loss(text: str) -> bool:
    """Whether the reason why something is missing is that the connection was lost."""
    return re.search(r"connection (?:to \S+ )?(?:is|was) lost", text) is not None


class End(Enum):
    """How the running of a command came to its end."""

    EXITED = "it ended"
    TIMED_OUT = "its time was up"
    CUT = "it wrote more than is read"
    LOST = "the connection was lost"
    NOT_READY = "the account's shell was not ready to run it (what do its startup files do, such as ~/.bashrc?)"


@dataclass(frozen=True)
class Ran:
    """A command that was run. Its output may be anything, so it is bytes; what came before an early end is kept."""

    argv: tuple[str, ...]
    end: End
    exit: int | None
    """Exit status; 128 + n where signal n ended it; None where it is not known."""
    stdout: bytes
    stderr: bytes
    seconds: float

    @property
    def ok(self) -> bool:
        return self.end is End.EXITED and self.exit == 0

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", errors="replace")

    @property
    def complaint(self) -> str:
        """The last line of what it said of its failure, or how it ended."""
        lines = self.stderr.decode("utf-8", errors="replace").strip().splitlines()
        if self.end is not End.EXITED:
            return f"{self.end.value} after {self.seconds:.1f} s"
        return plain_complaint(lines[-1]) if lines else f"exit status {self.exit}"


def plain_complaint(line: str) -> str:
    """A command's complaint without what tells nothing: docker says by which request it was refused."""
    return _OF_DOCKER.sub(r"\1; root may use it, and who is in the group docker", line.strip())


class Running(Protocol):
    """A command under way. Closing it ends the command's process group on the host, whatever became of it."""

    end: End
    exit: int | None

    def pieces(self) -> Iterator[tuple[bool, bytes]]:
        """(whether it is error output, bytes) as they come, both streams drained, until the command is over.
        `end` and `exit` are set by then."""
        ...

    def close(self) -> None: ...


class Stream(Protocol):
    """A TCP connection, as much of a socket as is needed."""

    def recv(self, size: int, /) -> bytes: ...

    def sendall(self, data: bytes, /) -> None: ...

    def settimeout(self, seconds: float | None, /) -> None: ...

    def close(self) -> None: ...


class Link(Protocol):
    """The way to one host."""

    @property
    def kind(self) -> str:
        """ssh or local."""
        ...

    @property
    def name(self) -> str:
        """The host as the user named it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What else the host is called: names that its certificate may be for."""
        ...

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        """Starts a command, which the host itself ends after `timeout_s`, or once this side is gone.

        `argv` reaches the program word by word; no shell reads it. Raises LinkLost where it cannot be started.
        """
        ...

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Stream:
        """A connection that begins on the host. Raises ToolError where nothing answers."""
        ...

    def close(self) -> None: ...


def run(
    link: Link,
    argv: Sequence[str],
    *,
    timeout_s: float,
    stdin: bytes = b"",
    limit: int = LARGEST_OUTPUT,
    watch: Callable[[bytes], None] | None = None,
) -> Ran:
    """Runs a command to its end and keeps at most `limit` bytes of its output; beyond that it is ended (End.CUT).
    `watch` is told each piece of output as it comes.

    Raises LinkLost only where the command could not even be started.
    """
    began = time.monotonic()
    kept: tuple[list[bytes], list[bytes]] = ([], [])
    sizes = [0, 0]
    limits = (limit, LARGEST_ERROR)
    with closing(link.start(argv, timeout_s=timeout_s, stdin=stdin)) as running:
        cut = False
        for is_error, piece in running.pieces():
            room = limits[is_error] - sizes[is_error]
            kept[is_error].append(piece[:room])
            if watch is not None and not is_error:
                watch(piece[:room])
            sizes[is_error] += min(len(piece), room)
            if len(piece) > room and not is_error:
                cut = True
                break
    end = End.CUT if cut else running.end
    seconds = time.monotonic() - began
    return Ran(tuple(argv), end, running.exit, b"".join(kept[False]), b"".join(kept[True]), seconds)
