"""A real OpenSSH server and a stand-in for an SGLang server, one of each for all tests that share a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.targets.remote.address import Address
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.sshd import MISSING, Sshd, running


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def own_sshd(tmp_path: Path) -> Iterator[Sshd]:
    """One that a test may spoil."""
    if MISSING:
        pytest.skip(MISSING)
    server = Sshd(tmp_path / "sshd")
    yield server
    server.stop()


@pytest.fixture(params=["local", "ssh"])
def link(request: pytest.FixtureRequest) -> Iterator[Link]:
    """Both ways to a host, which must not differ."""
    if request.param == "local":
        yield LocalLink()
        return
    from ppagent.targets.remote.ssh_link import SshLink

    server: Sshd = request.getfixturevalue("sshd")
    opened = SshLink.to(Address("box"), config=server.ssh_config())
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def fake_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeServer]:
    server = FakeServer(tmp_path_factory.mktemp("fake")).start()
    yield server
    server.stop()
