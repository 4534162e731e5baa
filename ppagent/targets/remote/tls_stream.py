"""TLS over a connection that is no socket of this machine."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Stream

T = TypeVar("T")
_PIECE = 1 << 16


class Distrusted(ToolError):
    """The server's certificate is not one that is trusted."""


class TlsStream:
    """A stream within TLS. Raises Distrusted where the certificate is not trusted by `context`, and OSError as any
    stream does."""

    def __init__(self, stream: Stream, context: ssl.SSLContext, name: str) -> None:
        self._stream = stream
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=name or None)
        try:
            self._through(self._tls.do_handshake)
        except ssl.SSLCertVerificationError as error:
            raise Distrusted(error.verify_message or str(error)) from error

    def recv(self, size: int, /) -> bytes:
        try:
            return self._through(lambda: self._tls.read(size))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    def sendall(self, data: bytes, /) -> None:
        left = memoryview(data)
        while left:
            sent = self._through(lambda: self._tls.write(left))  # noqa: B023 - called at once
            left = left[sent:]

    def settimeout(self, seconds: float | None, /) -> None:
        self._stream.settimeout(seconds)

    def close(self) -> None:
        with suppress(ssl.SSLError):  # it may have been closed by the other side, or never have been open
            self._tls.unwrap()
        with suppress(EOFError, OSError):
            self._flush()
        self._stream.close()

    def _through(self, step: Callable[[], T]) -> T:
        """Does a step, with what must be sent and received for it."""
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                with suppress(EOFError, OSError):
                    self._flush()  # why it ends is said to the other side too
                raise
            else:
                self._flush()
                return done

    def _fill(self) -> None:
        if piece := self._stream.recv(_PIECE):
            self._in.write(piece)
        else:
            self._in.write_eof()

    def _flush(self) -> None:
        if piece := self._out.read():
            self._stream.sendall(piece)
