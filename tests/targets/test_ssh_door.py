"""A login shell with startup files that print, take long, never end, or let nobody in: by a real sshd that runs one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import ToolError
from ppagent.targets.remote import ssh_link
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.link import End, Ran, run
from ppagent.targets.remote.sections import run_sections
from ppagent.targets.remote.ssh_door import MOST_HELD, Door
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.sshd import Sshd, running

GOES_ON = 'eval "$SSH_ORIGINAL_COMMAND"'


def through(root: Path, startup: str, *commands: list[str], timeout_s: float = 20) -> list[Ran]:
    """Commands run one after the other by a host whose shell does `startup` first."""
    with running(root, f"ForceCommand {startup}") as server:
        link = SshLink.to(Address("box"), config=server.ssh_config())
        try:
            return [run(link, command, timeout_s=timeout_s) for command in commands]
        finally:
            link.close()


def test_what_a_startup_file_prints_is_no_part_of_a_commands_output(tmp_path: Path) -> None:
    startup = f"echo Welcome to box; echo mind the gap >&2; {GOES_ON}"
    (ran,) = through(tmp_path, startup, ["sh", "-c", "echo own; echo wrong >&2"])
    assert (ran.stdout, ran.stderr, ran.exit) == (b"own\n", b"wrong\n", 0)


def test_a_shell_that_takes_longer_than_the_command_may_is_waited_for_and_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ssh_link, "SLOW_S", 0.3)
    monkeypatch.setattr(ssh_link, "GRACE_S", 0.0)
    ran = through(tmp_path, f"sleep 2; {GOES_ON}", *[["echo", "x"]] * 5, timeout_s=1.0)
    assert [(each.end, each.text) for each in ran] == [(End.EXITED, "x\n")] * 5
    assert capsys.readouterr().err.count("the shell of the account on box takes long to start") == 1


def test_a_quick_shell_is_not_spoken_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    through(tmp_path, GOES_ON, ["true"])
    assert capsys.readouterr().err == ""


def test_a_shell_that_never_gets_there_is_not_called_a_dead_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_link, "SHELL_S", 0.5)
    (ran,) = through(tmp_path, "sleep 60", ["true"])
    assert ran.end is End.NOT_READY
    assert "shell was not ready to run it (what do its startup files do, such as ~/.bashrc?)" in ran.complaint


def test_a_startup_file_that_prints_without_end_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_link, "SHELL_S", 0.5)
    (ran,) = through(tmp_path, "yes", ["true"])
    assert ran.end is End.NOT_READY


def test_of_what_is_printed_before_the_word_little_is_kept_and_the_word_is_found() -> None:
    door = Door("@@0")
    for _ in range(100):
        assert door.through(False, b"y\n" * 30_000) == b""
    assert len(door.before) <= MOST_HELD
    assert door.through(False, b"y\n@@") + door.through(False, b"0\nown") == b"own"


def test_an_account_that_may_run_nothing_says_so_in_its_own_words(tmp_path: Path) -> None:
    said = "This account is currently not available."
    server = Sshd(tmp_path, extra=(f"ForceCommand echo {said}; exit 1",)).start()
    link = SshLink.to(Address("box"), config=server.ssh_config())
    try:
        with pytest.raises(ToolError, match=f"box answers no commands: {said}"):
            run_sections(link, "s who id -un", timeout_s=20)
    finally:
        link.close()
        server.stop()


@given(st.binary(max_size=40), st.binary(max_size=40), st.lists(st.integers(1, 9), min_size=1))
def test_everything_after_the_word_comes_through_however_it_is_cut(before: bytes, own: bytes, sizes: list[int]) -> None:
    door, came, rest = Door("@@0"), b"", before + b"@@0\n" + own
    for size in sizes * 20:
        came += door.through(False, rest[:size])
        rest = rest[size:]
    came += door.through(False, rest)
    assert came == own
    assert door.open
