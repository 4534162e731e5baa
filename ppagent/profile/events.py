"""The events of a trace one by one: a trace of a gigabyte is never held whole.

Chrome's trace format as PyTorch writes it: an object with a list `traceEvents`, or that list alone, gzipped or not.
"""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

from ppagent.errors import ToolError

Header = Callable[[str, object], None]
"""Told of every value beside the events, by its name, as it comes."""

PIECE = 1 << 20
LONGEST_VALUE_MIB = 8
"""An event takes some hundred bytes; one beyond this is not read, so that nothing grows without end."""
MOST_UNPACKED_GIB = 16

_BETWEEN = re.compile(r"[\s,]*")
_decode = json.JSONDecoder(strict=False).raw_decode


def read_events(packed: IO[bytes], name: str, header: Header | None = None) -> Iterator[dict[str, Any]]:
    """Every event of the trace in `packed`. Raises ToolError where it is no trace, or is not whole; what came before
    has been given by then."""
    text = _Text(packed, name)
    match text.peek():
        case "[":
            yield from _list(text)
        case "{":
            yield from _object(text, header)
        case "":
            raise ToolError(f"{name} is empty")
        case _:
            raise ToolError(f"{name} is no trace: it holds no JSON")


def _object(text: "_Text", header: Header | None) -> Iterator[dict[str, Any]]:
    text.take(1)
    found = False
    while (begin := text.peek()) != "}":
        if begin != '"':
            raise text.broken()
        key = text.value()
        text.colon()
        if key == "traceEvents" and text.peek() == "[":
            found = True
            yield from _list(text)
            continue
        value = text.value()
        if header is not None:
            header(str(key), value)
    if not found:
        raise ToolError(f"{text.name} is no trace: it holds no list of events")


def _list(text: "_Text") -> Iterator[dict[str, Any]]:
    text.take(1)
    while text.peek() != "]":
        value = text.value()
        if isinstance(value, dict):
            text.events += 1
            yield value
        yield from text.whole_objects()
    text.take(1)


class _Text:
    """The unpacked text, a window of it at a time."""

    def __init__(self, packed: IO[bytes], name: str) -> None:
        self.name = name
        self.events = 0
        self._source = _unpacked(packed)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held, self._at = "", 0
        self._ended = False
        self._read = 0

    def peek(self) -> str:
        """The next character that is neither space nor comma; empty at the end."""
        while True:
            match = _BETWEEN.match(self._held, self._at)
            self._at = match.end() if match is not None else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more(PIECE):
                return ""

    def take(self, count: int) -> None:
        self._at += count

    def colon(self) -> None:
        if self.peek() != ":":
            raise self.broken()
        self._at += 1

    def value(self) -> object:
        """The next value, whole. Raises ToolError where there is none, or it is too large."""
        self.peek()
        size = PIECE
        while True:
            try:
                value, end = _decode(self._held, self._at)
            except RecursionError as error:
                raise ToolError(f"{self.name} is nested too deeply after {self.events} events") from error
            except ValueError as error:
                if not self._more(size):
                    raise self.broken() from error
            else:
                if end < len(self._held) or not self._more(size):
                    self._at = end
                    return cast(object, value)
            size *= 2
            if len(self._held) - self._at > LONGEST_VALUE_MIB << 20:
                raise ToolError(
                    f"{self.name} holds no trace after {self.events} events: "
                    f"what follows is broken, or larger than {LONGEST_VALUE_MIB} MiB"
                )

    def whole_objects(self) -> Iterator[dict[str, Any]]:
        """The objects that lie whole in what is held: the same as one `value` after the other, only quicker."""
        held, at, between, decode = self._held, self._at, _BETWEEN.match, _decode
        try:
            while (match := between(held, at)) and held.startswith("{", at := match.end()):
                value, at = decode(held, at)
                self._at = at
                self.events += 1
                yield value
        except (ValueError, RecursionError):
            return

    def broken(self) -> ToolError:
        return ToolError(f"{self.name} breaks off, or is no JSON, after {self.events} events")

    def _more(self, size: int) -> bool:
        """Reads on, and lets go of what was taken; false at the end."""
        if self._ended:
            return False
        try:
            piece = self._source.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ToolError(f"{self.name} cannot be unpacked after {self.events} events: {error}") from error
        self._read += len(piece)
        if self._read > MOST_UNPACKED_GIB << 30:
            raise ToolError(f"{self.name} is larger than {MOST_UNPACKED_GIB} GiB when unpacked")
        self._ended = not piece
        self._held = self._held[self._at :] + self._decoder.decode(piece, final=self._ended)
        self._at = 0
        return not self._ended or bool(self._held)


def _unpacked(packed: IO[bytes]) -> IO[bytes]:
    begin = packed.read(2)
    packed.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=packed)) if begin == b"\x1f\x8b" else packed
