"""A connection that breaks off at the worst moment is a lost connection and no other error."""

import os
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ppagent.targets.remote.http_client import _Stream
from ppagent.targets.remote.link import End, LinkLost
from ppagent.targets.remote.reach import _answers_at
from ppagent.targets.remote.ssh_link import SshLink, SshRun


def broken(*_: object) -> Any:
    """What paramiko raises where it wants to send something and the other end is gone."""
    raise EOFError


def channel(**methods: Callable[..., object]) -> Any:
    """A channel that has something to read, and whose every sending fails."""
    reading, writing = os.pipe()
    os.write(writing, b"x")
    plain = {"recv_ready": lambda: True, "recv_stderr_ready": lambda: False, "fileno": lambda: reading,
             "recv": broken, "close": broken, "exec_command": broken}  # fmt: skip
    return SimpleNamespace(**{**plain, **methods}, eof_received=False, closed=False)


def test_reading_ends_as_lost_and_closing_says_nothing() -> None:
    places = threading.BoundedSemaphore(1)
    places.acquire()
    run = SshRun(channel(), 1.0, places)
    assert list(run.pieces()) == []
    assert run.end is End.LOST
    run.close()
    assert places.acquire(blocking=False)


def test_a_command_that_cannot_be_started_is_a_lost_connection_and_leaves_its_place() -> None:
    transport = SimpleNamespace(open_session=lambda timeout: channel())
    link = SshLink(SimpleNamespace(config=SimpleNamespace(alias="box"), transport=transport))  # type: ignore[arg-type]
    for _ in range(9):
        with pytest.raises(LinkLost, match="the connection to box is lost"):
            link.start(["true"], timeout_s=1.0)


def test_a_connection_to_the_server_closes_without_a_word() -> None:
    _Stream(channel()).close()
    assert not _answers_at(SimpleNamespace(open_tcp=lambda *_, **__: channel()), "127.0.0.1", 1)  # type: ignore[arg-type]
