"""This machine as a host: the same commands, without SSH."""

import os
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence

from ppagent.errors import ToolError
from ppagent.targets.remote.leash import TIME_UP, leashed
from ppagent.targets.remote.link import GRACE_S, End, LinkLost, Running, Stream

_PIECE = 1 << 16


class LocalLink:
    """Commands of this machine. `name` is what the host is called in the evidence."""

    kind = "local"

    def __init__(self, name: str = "local") -> None:
        self.name = name
        self.names = (socket.gethostname(), "localhost")

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        return LocalRun(argv, timeout_s, stdin)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Stream:
        try:
            stream = socket.create_connection((address, port), timeout=timeout_s)
        except OSError as error:
            raise ToolError(f"nothing answers on {address} port {port}: {error.strerror or error}") from error
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream

    def close(self) -> None:
        """Nothing is held open."""


class LocalRun:
    """A command of this machine under way."""

    def __init__(self, argv: Sequence[str], timeout_s: float, stdin: bytes) -> None:
        self.end = End.LOST
        self.exit: int | None = None
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        try:
            self._process = subprocess.Popen(
                leashed(argv, timeout_s, stdin),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise LinkLost(f"no command can be started here: {error.strerror or error}") from error
        self._feed(stdin)

    def _feed(self, stdin: bytes) -> None:
        if self._process.stdin is None:
            raise AssertionError("the process was started with a pipe")
        try:
            self._process.stdin.write(stdin)
            self._process.stdin.flush()
        except BrokenPipeError:  # it is gone already, and what it said is read
            return

    def pieces(self) -> Iterator[tuple[bool, bytes]]:
        deadline = self._began + self._timeout_s + GRACE_S
        with selectors.DefaultSelector() as selector:
            for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True)):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ, is_error)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    self.end = End.TIMED_OUT
                    return
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
                    if piece:
                        yield key.data, piece
                    else:
                        selector.unregister(key.fileobj)
        self._settle(deadline)

    def _settle(self, deadline: float) -> None:
        try:
            status = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.end = End.TIMED_OUT
            return
        self.exit = status if status >= 0 else 128 - status
        over = time.monotonic() - self._began >= self._timeout_s
        self.end = End.TIMED_OUT if self.exit in TIME_UP and over else End.EXITED

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                _close_quietly(stream)
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _close_quietly(stream: object) -> None:
    try:
        stream.close()  # type: ignore[attr-defined]
    except BrokenPipeError:  # its other end is gone, which is what closing is for
        return
