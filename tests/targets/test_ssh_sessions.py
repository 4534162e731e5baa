"""Channels that stand ready: few at once, fewer where the host allows fewer, and nothing left of them."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ppagent.errors import ToolError
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.link import End, LinkLost, Ran, run
from ppagent.targets.remote.ssh_door import waiting
from ppagent.targets.remote.ssh_link import SshLink
from ppagent.targets.remote.ssh_sessions import MOST_CHANNELS
from tests.fixtures.sshd import Sshd, processes, running


def linked(root: Path, *lines: str) -> Iterator[tuple[Sshd, SshLink]]:
    with running(root / "sshd", *lines) as server:
        link = SshLink.to(Address("box"), config=server.ssh_config())
        try:
            yield server, link
        finally:
            link.close()


@pytest.fixture
def link(tmp_path: Path) -> Iterator[SshLink]:
    yield from (link for _, link in linked(tmp_path))


def many(link: SshLink, count: int) -> list[Ran]:
    def one(number: int) -> Ran:
        return run(link, ["sh", "-c", f"cat; sleep 0.2; echo {number}"], timeout_s=20, stdin=b"")

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_commands_wait_for_their_turn_and_none_is_refused(link: SshLink) -> None:
    ran = many(link, 3 * MOST_CHANNELS)
    assert [each.text for each in ran] == [f"{number}\n" for number in range(3 * MOST_CHANNELS)]


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_a_host_that_allows_fewer_sessions_gets_fewer(tmp_path: Path, allowed: int) -> None:
    for _, link in linked(tmp_path, f"MaxSessions {allowed}"):
        assert [each.text for each in many(link, 6)] == [f"{number}\n" for number in range(6)]
        assert run(link, ["echo", "once more"], timeout_s=10).text == "once more\n"


def test_a_host_that_allows_no_session_is_said(tmp_path: Path) -> None:
    for _, link in linked(tmp_path, "MaxSessions 0"):
        with pytest.raises(ToolError, match="box opens no further session"):
            run(link, ["true"], timeout_s=5)


def shells(server: Sshd) -> set[int]:
    """Process ids of the shells that stand ready beneath an sshd."""
    known = processes()
    found = set(server.sessions())
    return {pid for pid, parent, name in known if parent in found and not name.startswith("sshd")}


def ended(pids: set[int], within_s: float = 10.0) -> bool:
    until = time.monotonic() + within_s
    while pids & {pid for pid, _, _ in processes()}:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_no_more_stand_ready_than_may_be_used_and_all_go_with_the_connection(tmp_path: Path) -> None:
    for server, link in linked(tmp_path):
        run(link, ["true"], timeout_s=5)
        time.sleep(0.5)
        ready = shells(server)
        assert 1 <= len(ready) <= MOST_CHANNELS
        link.close()
        assert ended(ready)


def test_those_that_stand_ready_end_when_the_connection_is_cut(tmp_path: Path) -> None:
    for server, link in linked(tmp_path):
        run(link, ["true"], timeout_s=5)
        ready = shells(server)
        assert ready
        assert server.cut()
        assert ended(ready)


def test_a_command_that_is_ended_leaves_its_place_to_the_next(link: SshLink) -> None:
    for _ in range(2 * MOST_CHANNELS):
        ran = run(link, ["sleep", "60"], timeout_s=0.2)
        assert ran.end is End.TIMED_OUT


def test_a_lost_connection_keeps_nobody_waiting_for_a_channel(tmp_path: Path) -> None:
    for server, link in linked(tmp_path):
        said: list[str] = []

        def one(link: SshLink = link, said: list[str] = said) -> None:
            try:
                said.append(run(link, ["sleep", "60"], timeout_s=60).end.value)
            except LinkLost as error:
                said.append(str(error).partition(" is lost")[0])

        threads = [threading.Thread(target=one, daemon=True) for _ in range(2 * MOST_CHANNELS)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.cut()
        for thread in threads:
            thread.join(20)
        assert sorted(said) == ["the connection to box"] * MOST_CHANNELS + [End.LOST.value] * MOST_CHANNELS


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "tcsh", "fish"])
def test_any_login_shell_starts_the_one_that_waits(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    line = b"printf '%s|' 'a b' 'it'\"'\"'s' '$x' '!y' 'new\nline'"
    done = subprocess.run(
        [shell, "-c", waiting("@@0")],
        input=b"%d\n%bunread" % (len(line), line),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.returncode) == (b"@@0\na b|it's|$x|!y|new\nline|", 0)
    silent = subprocess.run([shell, "-c", waiting("@@0")], input=b"", capture_output=True, timeout=30, check=False)
    assert (silent.stdout, silent.stderr) == (b"@@0\n", b"@@0\n")
