"""A server's log as fetched: the beginning of its last launch, the end, and a line that says what lies between."""

import io
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.files import LONGEST_LINE_MIB
from ppagent.targets.remote.link import End, Link, Running, plain_complaint
from ppagent.targets.remote.log_place import LogPlace
from ppagent.targets.remote.sections import script

HEAD_BYTES = 4 << 20
TAIL_BYTES = 32 << 20
READ_S = 180.0
REMARK = b"[ppagent] "
"""Begins a line that stands in a log in place of something else and is none of the server's."""

_REMARKS = re.compile(
    rb"\[ppagent\] (?:[\d.]+ MiB of the log were left out (?:here|before the last launch)"
    rb"|a part of the log was left out here|the rest of the log was not read: [a-z ']{1,80})"
)
_LONGEST = LONGEST_LINE_MIB << 20


@dataclass(frozen=True)
class _Sizes:
    kind: str
    whole: int
    begins: int
    head: int


def read_log(
    link: Link, place: LogPlace, *, head: int = HEAD_BYTES, tail: int = TAIL_BYTES, timeout_s: float = READ_S
) -> Iterator[bytes]:
    """The log's lines as they arrive, oldest first. What was left out is said in lines that begin with `REMARK`.

    Raises NotRecorded or ToolError only where not a line could be read; a connection lost later ends it with a remark.
    """
    asked = [place.kind, place.name, str(place.since_s), str(head), str(tail), *place.more]
    argv = [*place.enter, "sh", "-s", "--", *asked]
    with closing(link.start(argv, timeout_s=timeout_s, stdin=script("log.sh").encode())) as running:
        source = _Source(running)
        sizes = _sizes(source.line())
        if sizes is None:
            raise source.failure(link, place)
        source.lines_read = 0
        yield from _joined(source, sizes, tail)
        if not source.lines_read:
            raise source.failure(link, place)
        if running.end is not End.EXITED:
            yield REMARK + f"the rest of the log was not read: {running.end.value}\n".encode()


def is_remark(line: bytes) -> bool:
    """Whether a line of a fetched log is one of those that stand in place of others."""
    return line.startswith(REMARK) and _REMARKS.fullmatch(line.strip()) is not None


def _joined(source: "_Source", sizes: _Sizes, tail: int) -> Iterator[bytes]:
    """Both pieces, whole lines only where something lies between them."""
    head_left = sizes.head
    if sizes.begins:
        yield _left_out(sizes.begins, "before the last launch")
        head_left -= len(source.line())
    if sizes.kind == "piped":
        yield from _piped(source, head_left, tail)
        return
    if sizes.whole - sizes.begins <= sizes.head:
        yield from source.lines()
        return
    yield from _whole_lines(source, head_left)
    yield _left_out(sizes.whole - sizes.begins - sizes.head - tail, "here")
    source.line()
    yield from source.lines()


def _piped(source: "_Source", head: int, tail: int) -> Iterator[bytes]:
    """Where the whole size is not known: the end is as long as may be only where something was left out."""
    pending = b""
    for line in source.exactly(head):
        if pending:
            yield pending
        pending = line
    rest = list(source.lines())
    cut = sum(map(len, rest)) >= tail
    if not cut and rest:
        rest[0] = pending + rest[0] if not pending.endswith(b"\n") else rest[0]
        pending = b"" if not pending.endswith(b"\n") else pending
    if pending and (not cut or pending.endswith(b"\n")):
        yield pending
    if cut:
        yield REMARK + b"a part of the log was left out here\n"
    yield from rest[1:] if cut else rest


def _whole_lines(source: "_Source", size: int) -> Iterator[bytes]:
    return (line for line in source.exactly(size) if line.endswith(b"\n"))


def _left_out(size: int, where: str) -> bytes:
    return REMARK + f"{size / (1 << 20):.1f} MiB of the log were left out {where}\n".encode()


def _sizes(line: bytes) -> _Sizes | None:
    words = line.decode("ascii", errors="replace").split()
    if len(words) != 4 or words[0] not in ("file", "piped") or not all(word.isdecimal() for word in words[1:]):
        return None
    return _Sizes(words[0], int(words[1]), int(words[2]), int(words[3]))


class _Pieces(io.RawIOBase):
    """A command's output as a file; what it complains of is kept."""

    def __init__(self, running: Running) -> None:
        self.complaint = b""
        self._pieces = running.pieces()
        self._held = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._held:
            is_error, piece = next(self._pieces, (False, None))
            if piece is None:
                return 0
            if is_error:
                self.complaint = (self.complaint + piece)[-4096:]
            else:
                self._held = memoryview(piece)
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


class _Source:
    """Bytes of a command as lines."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._raw = _Pieces(running)
        self._file = io.BufferedReader(self._raw, 1 << 18)
        self.lines_read = 0

    def line(self, most: int = _LONGEST) -> bytes:
        """The next line with its end, or a piece of `most` bytes of it; empty at the end."""
        line = self._file.readline(most)
        self.lines_read += 1 if line else 0
        return line

    def lines(self) -> Iterator[bytes]:
        while line := self.line():
            yield line

    def exactly(self, size: int) -> Iterator[bytes]:
        """The lines of the next `size` bytes; the last one may be a piece of a line."""
        while size > 0 and (line := self.line(min(size, _LONGEST))):
            size -= len(line)
            yield line

    def failure(self, link: Link, place: LogPlace) -> ToolError:
        """Why nothing came."""
        for _ in self.lines():
            pass
        said = self._raw.complaint.decode("utf-8", errors="replace").strip().splitlines()
        if self._running.end is not End.EXITED:
            return ToolError(f"the log ({place.shown}) of {link.name} was not read: {self._running.end.value}")
        why = plain_complaint(said[-1]) if said else "it is empty, or rights to read it are missing"
        if "holds nothing" in why:
            return NotRecorded(f"the log ({place.shown}) of {link.name} is not kept: {why} since the server started")
        if "log driver is none" in why:
            return NotRecorded(f"the log of {link.name} is not kept: its container was started with --log-driver none")
        if not said and place.kind in ("docker", "podman"):
            return NotRecorded(f"the log ({place.shown}) of {link.name} is empty: the server writes elsewhere")
        if why.endswith("would give it"):
            return ToolError(f"the log of {link.name} cannot be read: {why}")
        kind = NotRecorded if "No such file" in why else ToolError
        return kind(f"the log ({place.shown}) of {link.name} cannot be read: {why}; `{place.by_hand}` would give it")
