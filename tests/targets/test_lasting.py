"""A connection that breaks while something has to be put back: the next command goes over a new one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.targets.remote import lasting as module
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.lasting import lasting
from ppagent.targets.remote.link import LinkLost, run
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.sshd import Sshd, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with running(tmp_path / "sshd") as server:
        yield server


def test_a_command_after_the_connection_was_cut_is_run_over_a_new_one(
    server: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_S", 0.0)
    link = lasting(SshLink.to(Address("box"), config=server.ssh_config()))
    for _ in range(3):
        assert run(link, ["echo", "there"], timeout_s=20).text == "there\n"
        server.cut()
    link.close()


def test_a_connection_through_it_is_opened_anew_too(server: Sshd) -> None:
    link = lasting(SshLink.to(Address("box"), config=server.ssh_config()))
    server.cut()
    stream = link.open_tcp("127.0.0.1", server.port, timeout_s=20)
    assert stream.recv(4) == b"SSH-"
    stream.close()
    link.close()


def test_a_host_that_stays_away_is_a_lost_connection_that_says_why(
    server: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_S", 0.0)
    monkeypatch.setattr(module, "RENEW_S", 0.2)
    monkeypatch.setattr(module, "BETWEEN_S", 0.1)
    link = lasting(SshLink.to(Address("box"), config=server.ssh_config()))
    server.stop()
    with pytest.raises(LinkLost, match="no new one is to be had: box .* cannot be reached"):
        run(link, ["true"], timeout_s=20)


def test_this_machine_needs_no_new_connection() -> None:
    here = LocalLink()
    assert lasting(here) is here
