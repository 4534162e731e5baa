"""A connection that breaks off at the worst moment is a lost connection and no other error."""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ppagent.targets.remote.http_client import _Stream
from ppagent.targets.remote.link import End, LinkLost
from ppagent.targets.remote.ssh_link import SshLink, SshRun
from ppagent.targets.remote.ssh_sessions import Sessions


def broken(*_: object) -> Any:
    """What paramiko raises where it wants to send something and the other end is gone."""
    raise EOFError


def channel(**methods: Callable[..., object]) -> Any:
    """A channel that has something to read, and whose every sending fails."""
    reading, writing = os.pipe()
    os.write(writing, b"x")
    plain = {"recv_ready": lambda: True, "recv_stderr_ready": lambda: False, "fileno": lambda: reading,
             "recv": broken, "close": broken, "sendall": broken, "settimeout": lambda _: None,
             "remote_chanid": 1}  # fmt: skip
    return SimpleNamespace(**{**plain, **methods}, eof_received=False, closed=False)


def transport(send: Callable[..., object]) -> Any:
    return SimpleNamespace(open_session=lambda timeout: channel(), _send_user_message=send, is_active=lambda: True)


def test_reading_ends_as_lost_and_closing_says_nothing() -> None:
    sessions = Sessions(transport(lambda _: None), "box")
    for _ in range(9):
        run = SshRun(sessions._take(), 1.0, sessions)
        assert list(run.pieces()) == []
        assert run.end is End.LOST
        run.close()
        run.close()


@pytest.mark.parametrize("send", [broken, lambda _: None])
def test_a_command_that_cannot_be_started_is_a_lost_connection_and_leaves_its_place(
    send: Callable[..., object],
) -> None:
    config = SimpleNamespace(alias="box", hostname="box")
    link = SshLink(SimpleNamespace(config=config, transport=transport(send)))  # type: ignore[arg-type]
    for _ in range(9):
        with pytest.raises(LinkLost, match="the connection to box is lost"):
            link.start(["true"], timeout_s=1.0)


def test_a_connection_to_the_server_closes_without_a_word() -> None:
    _Stream(channel()).close()
