"""Loads and trials over a real sshd, the connection cut in the middle among them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.trials.note import all_notes
from tests.fixtures.sshd import MISSING, Sshd, free_port
from tests.trials.reached import LOAD, TRIAL, end, host_called_box, relaunch_words, run, when
from tests.trials.test_relaunch import Served, _pids, launched

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = launched(tmp_path, "--base-ms", "6")
    yield served
    end(served)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    with host_called_box(tmp_path, monkeypatch) as running:
        yield running


def over_ssh(server: Served, command: str, *words: str) -> int:
    return run("ssh://box", server, command, *words)


def test_a_load_goes_through_the_tunnel_and_says_so(
    server: Served, box: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    assert over_ssh(server, "bench", *LOAD, "--think-time", "0", "--seconds", "1", "--yes", "4") == 0
    told = capsys.readouterr().out
    assert "through the SSH tunnel to box" in told
    assert "tok/s" in told


def test_a_live_trial_over_ssh_restores(server: Served, box: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    assert over_ssh(server, "try", *TRIAL, "--seconds", "1") in (0, 3)
    assert "back at 16, read back" in capsys.readouterr().out
    assert (server.limit, all_notes()) == (16, ())


def test_where_the_connection_is_cut_in_the_middle_the_old_value_is_put_back_over_a_new_one(
    server: Served, box: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = when(lambda: server.limit == 2, box.cut)
    assert over_ssh(server, "try", *TRIAL, "--seconds", "3") == 1
    cut.join(5)
    assert "failed" in capsys.readouterr().err
    assert server.limit == 16
    assert all_notes() == ()


def test_of_several_hosts_that_of_the_server_is_logged_in_to_anew(server: Served, box: Sshd) -> None:
    """Another that is away does not keep the old value from being put back."""
    config = Path(os.environ["PPAGENT_SSH_CONFIG"])
    config.write_text(f"{config.read_text()}Host away\n  HostName 127.0.0.1\n  Port {free_port()}\n")
    cut = when(lambda: server.limit == 2, box.cut)
    assert run("away,box", server, "try", *TRIAL, "--seconds", "3") == 1
    cut.join(5)
    assert server.limit == 16
    assert all_notes() == ()


def test_where_the_host_is_gone_the_next_run_restores(
    server: Served, box: Sshd, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppagent.trials.change.LiveChange.take_back.__defaults__", (0.5,))
    gone = when(lambda: server.limit == 2, box.stop)
    assert over_ssh(server, "try", *TRIAL, "--seconds", "3") == 1
    gone.join(20)
    assert "could NOT be put back to 16" in capsys.readouterr().err
    assert server.limit == 2
    box.start()
    assert over_ssh(server, "try", "--restore") == 0
    assert server.limit == 16
    assert all_notes() == ()


def test_a_relaunch_over_ssh_is_measured_and_rolled_back(
    server: Served, box: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = relaunch_words(tmp_path, monkeypatch)
    assert over_ssh(server, "try", *words, "--max-seconds", "60") == 0
    told = capsys.readouterr()
    assert "+ --pp-max-micro-batch-size 2" in told.err
    assert "the old launch serves again" in told.out
    assert (server.limit, all_notes()) == (16, ())
    assert _pids(server.url) != [server.process.pid]
