"""The tunnel when the connection under it is lost: whoever was using it sees its end, and nothing else happens."""

import socket
import threading
from collections.abc import Iterator
from typing import cast

import pytest

from ppagent.bench.tunnel import Tunnel
from ppagent.targets.remote.link import Link


class Lost:
    """A stream of a connection that is gone: everything that would send on it fails, closing too."""

    def recv(self, size: int, /) -> bytes:
        raise EOFError

    def sendall(self, data: bytes, /) -> None:
        raise EOFError

    def settimeout(self, seconds: float | None, /) -> None: ...

    def close(self) -> None:
        raise EOFError


class LostLink:
    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Lost:
        return Lost()


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    names: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: names.append(told.exc_type.__name__))
    yield names


def test_a_tunnel_that_is_closed_takes_nobody_any_more() -> None:
    tunnel = Tunnel(cast(Link, LostLink()), "127.0.0.1", 1)
    tunnel.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", tunnel.port), timeout=5)


def test_a_lost_connection_ends_the_callers_connection_and_no_thread_dies_of_it(raised: list[str]) -> None:
    tunnel = Tunnel(cast(Link, LostLink()), "127.0.0.1", 1)
    try:
        with socket.create_connection(("127.0.0.1", tunnel.port), timeout=5) as near:
            near.sendall(b"x")
            assert near.recv(1) == b""
    finally:
        tunnel.close()
    for thread in threading.enumerate():
        if thread.name.startswith("Thread-") and "_pump" in thread.name:
            thread.join(5)
    assert raised == []
