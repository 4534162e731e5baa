"""A port of this machine that leads to a server which only its own host can reach: one connection each way, as it is.

The load then goes through the SSH connection, which adds its round trip to every latency; the results say so. Where
that connection is lost, the next one through the tunnel logs in anew: a setting changed over it can be put back.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ppagent.errors import ToolError, UserError

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link, Stream

PIECE = 1 << 18
OPEN_S = 15.0


class Tunnel:
    """Listens on a free port of the loopback; every connection to it is carried to `address`:`port` of the host.

    `again` logs in to the host anew where the connection is lost; it raises UserError where it cannot.
    """

    def __init__(self, link: "Link", address: str, port: int, again: "Callable[[], Link] | None" = None) -> None:
        self._link, self._address, self._remote = link, address, port
        self._again, self._guard = again, threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._closed = threading.Event()
        threading.Thread(target=self._accept, name="tunnel", daemon=True).start()

    def close(self) -> None:
        """Takes no further connection; those there are end with the link."""
        self._closed.set()
        with contextlib.suppress(OSError):  # closing alone leaves a waiting accept, which would carry one more
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            far = self._far()
        except (ToolError, UserError):
            near.close()
            return
        far.settimeout(None)

        def end() -> None:
            _close(near)
            with contextlib.suppress(OSError, EOFError):  # a lost connection has nothing left to tell the host
                far.close()

        threading.Thread(target=_pump, args=(near.recv, far.sendall, end), daemon=True).start()
        _pump(far.recv, near.sendall, end)

    def _far(self) -> "Stream":
        from ppagent.targets.remote.link import LinkLost

        link = self._link
        try:
            return link.open_tcp(self._address, self._remote, timeout_s=OPEN_S)
        except LinkLost:
            return self._other_than(link).open_tcp(self._address, self._remote, timeout_s=OPEN_S)

    def _other_than(self, lost: "Link") -> "Link":
        """A new connection in place of the one that was lost, made once for all who miss it."""
        with self._guard:
            if self._link is lost and self._again is not None and not self._closed.is_set():
                self._link = self._again()
            return self._link


def _pump(receive: Callable[[int], bytes], send: Callable[[bytes], object], end: Callable[[], None]) -> None:
    with contextlib.suppress(OSError, EOFError):
        while piece := receive(PIECE):
            send(piece)
    end()


def _close(near: socket.socket) -> None:
    with contextlib.suppress(OSError):
        near.shutdown(socket.SHUT_RDWR)
    near.close()
