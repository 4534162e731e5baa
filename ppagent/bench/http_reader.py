"""Reads one HTTP/1.1 response out of whatever pieces the network hands over, and the events in its body.

Written for many streams on one core: most pieces hold exactly one chunk with one event, and cost one search each.
"""

from ppagent.errors import ToolError

_END_OF_HEAD = b"\r\n\r\n"
_LONGEST_HEAD = 64 * 1024
_LONGEST_SIZE = 16
_EVENT = b"data: "
_END_OF_EVENT = b"\n\n\r\n"


class BadResponse(ToolError):
    """What came back is no HTTP response."""


class ResponseReader:
    """One response. `status` is 0 until its head was read; `done` says that its body is complete."""

    def __init__(self) -> None:
        self.status = 0
        self.done = False
        self.keeps_alive = True
        self._rest = b""
        self._in_head = True
        self._chunked = False
        self._left: int | None = None
        """Bytes of the body, or of the chunk with its line end, still to come; None without a length."""

    def feed(self, data: bytes) -> bytes:
        """The part of the body that `data` completes. Raises BadResponse."""
        data = self._rest + data if self._rest else data
        self._rest = b""
        if self._in_head:
            end = data.find(_END_OF_HEAD)
            if end < 0:
                if len(data) > _LONGEST_HEAD:
                    raise BadResponse("the response's head does not end")
                self._rest = data
                return b""
            self._read_head(data[:end])
            data = data[end + len(_END_OF_HEAD) :]
        if self.done:
            return b""
        return self._chunks(data) if self._chunked else self._plain(data)

    def one_event(self, data: bytes) -> bytes:
        """The event in `data` where that is exactly one chunk with one whole event, which is what SGLang sends for a
        token; empty where it is anything else, and then `feed` has to read it."""
        if not self._chunked or self.status != 200 or self._rest or self.done or not data.endswith(_END_OF_EVENT):
            return b""
        begin, end = data.find(b"\r\n", 0, _LONGEST_SIZE) + 2, len(data) - 2
        if begin < 2 or not data.startswith(_EVENT, begin) or data.find(b"\n", begin, end - 2) >= 0:
            return b""
        return data[begin + len(_EVENT) : end - 2] if _size(data[: begin - 2]) == end - begin else b""

    def end(self) -> bool:
        """The connection ended; whether the response was whole by then."""
        if not self._in_head and not self._chunked and self._left is None:
            self.done = True
        return self.done

    def _read_head(self, head: bytes) -> None:
        lines = head.split(b"\r\n")
        words = lines[0].split(None, 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):
            raise BadResponse(f"no HTTP response: it begins with {lines[0][:60]!r}")
        self.status = int(words[1])
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        self._chunked = b"chunked" in headers.get(b"transfer-encoding", b"").lower()
        length = headers.get(b"content-length", b"")
        if not self._chunked and length.isdigit():
            if len(length) > _LONGEST_SIZE:
                raise BadResponse("the response is longer than anything can be")
            self._left = int(length)
            self.done = self._left == 0
        old = words[0] == b"HTTP/1.0" or (not self._chunked and self._left is None)
        self.keeps_alive = not old and headers.get(b"connection", b"").lower() != b"close"
        self._left = 0 if self._chunked else self._left
        self._in_head = False

    def _plain(self, data: bytes) -> bytes:
        if self._left is None:
            return data
        body = data[: self._left]
        self._left -= len(body)
        self.done = self._left == 0
        return body

    def _chunks(self, data: bytes) -> bytes:
        """Bodies of the chunks in `data`; a chunk that is not whole yet waits for the rest."""
        pieces: list[bytes] = []
        place = 0
        while True:
            line_end = data.find(b"\r\n", place)
            if line_end < 0:
                break
            size = _size(data[place:line_end])
            if size == 0:
                if data.find(b"\r\n", line_end + 2) < 0:
                    break
                self.done = True
                return b"".join(pieces)
            begin, end = line_end + 2, line_end + 2 + size
            if len(data) < end + 2:
                break
            pieces.append(data[begin:end])
            place = end + 2
        self._rest = data[place:]
        return b"".join(pieces)


def _size(line: bytes) -> int:
    try:
        size = int(line.partition(b";")[0], 16)
    except ValueError:
        size = -1
    if size < 0:
        raise BadResponse(f"a chunk of the response has no size: {line[:40]!r}")
    return size


class EventSplitter:
    """Splits a body into the payloads of its `data:` lines, as they become whole."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waiting(self) -> bool:
        """Whether half a line is kept for its rest."""
        return bool(self._rest)

    def feed(self, body: bytes) -> list[bytes]:
        """Payloads completed by `body`."""
        if not body:
            return []
        lines = (self._rest + body if self._rest else body).split(b"\n")
        self._rest = lines.pop()
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]
