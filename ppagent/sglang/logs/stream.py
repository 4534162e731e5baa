"""Read a server's log once, from first to last line, in bounded memory.

Batch lines take the fast way; HTTP and request lines are passed over (they hold users' text); all else is looked at for
start-up facts and troubles. Nothing here opens a file.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from ppagent.sglang.logs.launch import MOST_STRETCHES, Launch
from ppagent.sglang.logs.prefix import unwrap, with_time
from ppagent.sglang.logs.summary import LogSummary, Stretch

LONGEST_LINE = 1 << 17
_CHUNK = 1 << 17
_BATCH_WORDS = (b"Decode batch", b"Prefill batch")
_PASSED_OVER = (b"Receive: ", b"Finish: ", b'{"')


class ByteStream(Protocol):
    """What can be read in pieces."""

    def read(self, size: int, /) -> bytes: ...


def batches_of_lines(stream: ByteStream, longest: int = LONGEST_LINE) -> Iterator[list[bytes]]:
    """The lines of a stream without their ends, some at a time. One that has not ended after `longest` bytes is cut
    there, its rest passed over, so that memory stays bounded."""
    rest, skipping = b"", False
    while chunk := stream.read(_CHUNK):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if skipping and lines:
            del lines[0]
            skipping = False
        if skipping:
            rest = b""
        elif len(rest) > longest:
            lines.append(rest[:longest])
            rest, skipping = b"", True
        yield lines
    if rest:
        yield [rest]


def read_log_stream(stream: ByteStream) -> LogSummary:
    """Summarise a log from any byte stream, at the best speed and in bounded memory."""
    return _read(batches_of_lines(stream))


def read_log(lines: Iterable[bytes]) -> LogSummary:
    """Summarise a log from its lines, in order. Any bytes will do: what cannot be read is counted in `skipped`."""
    return _read((lines,))


def _read(batches: Iterable[Iterable[bytes]]) -> LogSummary:
    """The fast way: bytes 20:44 of a batch line name its slot; where its rank does not count only the line is kept.
    HTTP access lines are passed over, but for the time of the last one."""
    reader = _Reader()
    number = 0
    access = b""
    for batch in batches:
        known = reader.launch.lanes.by_key.get
        for line in batch:
            number += 1
            slot = known(line[20:44])
            if slot is not None:
                slot.last = line
                slot.number = number
                if slot.take is not None:
                    slot.take(line, line)
            elif b" HTTP/1." in line:
                access = line
            else:
                reader.take(line, line, number)
                known = reader.launch.lanes.by_key.get
    reader.launch.heard_at_last(access)
    return reader.summary(number)


class _Reader:
    """Everything about a line that is not on the fast way."""

    def __init__(self) -> None:
        self.launch = Launch()
        self._done: list[Stretch] = []
        self._launches = 1
        self._skipped: dict[str, int] = {}
        self._part = b""
        self._plain = False
        """Whether lines of this log begin with their time, so that one which does not was quoted by somebody."""

    def take(self, line: bytes, raw: bytes, number: int) -> None:
        """Take one line; `raw` is what the log holds where wrappers were taken off."""
        if not line.strip():
            return
        if len(line) >= LONGEST_LINE:
            self._skip("overlong")
            line = line[:LONGEST_LINE]
        if line[:1] == b"[" and line[1:3].isdigit():
            self._plain = True
            self._prefixed(line, raw, number)
        else:
            self._unprefixed(line, raw, number)

    def _prefixed(self, line: bytes, raw: bytes, number: int) -> None:
        if line[20:21] in (b".", b","):
            end = line.find(b"]", 20, 128)
            tags = line.find(b" ", 20, end)
            line = line[:20] + line[end if tags < 0 else tags :]
        end = line.find(b"]", 20, 128)
        if line[3:4] == b":" and (timed := with_time(line)) is not None:
            self._batch(timed, raw, number, timed.find(b"]"))
            return
        if end < 0:
            self._text(line, raw, number)
            return
        body = line[end + 2 : end + 15]
        if body[:1] == b"[" and body[1:5].isdigit():  # somebody's own time in front of SGLang's
            self._prefixed(line[end + 2 :], raw, number)
        elif body.startswith(_BATCH_WORDS):
            self._batch(line, raw, number, end)
        elif body.startswith(_PASSED_OVER):
            self.launch.heard(line)
        else:
            self._text(line, raw, number)

    def _batch(self, line: bytes, raw: bytes, number: int, end: int) -> None:
        slot = self.launch.lanes.slot(line, end)
        if slot is None:
            return
        self.launch.heard(line)
        slot.last, slot.number = line, number
        if slot.take is not None:
            slot.take(line, raw)

    def _unprefixed(self, line: bytes, raw: bytes, number: int) -> None:
        if b"\0" in line:
            self._skip("binary")
            return
        unwrapped = unwrap(line)
        if unwrapped.quoted and self._plain:
            self._skip("quoted")
            return
        text = self._part + unwrapped.text
        self._part = b""
        if unwrapped.partial and len(text) < LONGEST_LINE:
            self._part = text
        elif text[:1] == b"[" and text[1:3].isdigit():
            self._prefixed(text, raw, number)
        elif not self._plain and (timed := with_time(text)) is not None:
            self._batch(timed, raw, number, timed.find(b"]"))
        elif text[:1] != b"{":  # a request as JSON (--log-requests-format json): users' text
            self._text(text, raw, number)

    def _text(self, line: bytes, raw: bytes, number: int) -> None:
        """A line that may state a fact or a trouble."""
        if b"] server_args=" in line and self.launch.begun:
            following = self.launch.following()
            self._finish()
            self._launches += 1
            self.launch = following
        self.launch.take(line, raw, number)

    def _finish(self) -> None:
        self._done.append(self.launch.stretch())
        self._skipped["cut"] = self._skipped.get("cut", 0) + self.launch.half_lines
        if len(self._done) > MOST_STRETCHES:
            del self._done[MOST_STRETCHES // 2]

    def _skip(self, why: str) -> None:
        self._skipped[why] = self._skipped.get(why, 0) + 1

    def summary(self, lines: int) -> LogSummary:
        """Close the log."""
        self._finish()
        skipped = {why: count for why, count in self._skipped.items() if count}
        return LogSummary(stretches=tuple(self._done), launches=self._launches, lines=lines, skipped=skipped)
