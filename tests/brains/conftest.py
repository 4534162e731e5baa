"""No test of a brain reaches anything but this machine, and none is steered by the person's own configuration."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A connection to anywhere else fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOOPBACK:
            pytest.fail(f"a real connection to {address[0]} was tried")
        connect(self, address)

    def resolved(host: str, *args: Any, **options: Any) -> Any:
        if host not in LOOPBACK:
            pytest.fail(f"the name {host} was looked up")
        return getaddrinfo(host, *args, **options)

    getaddrinfo = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    yield


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration, no key, and sessions in a folder that goes away."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PPAGENT_MODEL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
