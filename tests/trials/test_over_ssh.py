"""Loads and trials over a real sshd, the connection cut in the middle among them."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.trials.note import all_notes
from tests.fixtures.sshd import MISSING, Sshd
from tests.trials.test_relaunch import Served, _pids, launched

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
LOAD = ["--concurrency", "8", "--input-len", "8", "--output-len", "6-14"]
TRIAL = [*LOAD, "--set", "pp_max_micro_batch_size=2", "--yes", "3", "--turnovers", "1", "--rounds", "1"]
TRIAL += ["--think-time", "0.002", "--no-forecast", "--no-answers"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = launched(tmp_path, "--base-ms", "6")
    yield served
    for pid in _pids(served.url):
        os.kill(pid, signal.SIGKILL)
    served.process.wait(5)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A host that the ssh configuration knows as box."""
    running = Sshd(tmp_path / "sshd").start()
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(running.ssh_config("box")))
    yield running
    running.stop()


def over_ssh(server: Served, command: str, *words: str) -> int:
    return main([command, "ssh://box", "--port", server.url.rpartition(":")[2], *words])


def test_a_load_goes_through_the_tunnel_and_says_so(
    server: Served, box: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    assert over_ssh(server, "bench", *LOAD, "--think-time", "0", "--seconds", "1") == 0
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
    cut = _when(lambda: server.limit == 2, box.cut)
    assert over_ssh(server, "try", *TRIAL, "--seconds", "3") == 1
    cut.join(5)
    assert "failed" in capsys.readouterr().err
    assert server.limit == 16
    assert all_notes() == ()


def test_where_the_host_is_gone_the_next_run_restores(
    server: Served, box: Sshd, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppagent.trials.change.LiveChange.take_back.__defaults__", (0.5,))
    gone = _when(lambda: server.limit == 2, box.stop)
    assert over_ssh(server, "try", *TRIAL, "--seconds", "3") == 1
    gone.join(20)
    assert "could NOT be put back to 16" in capsys.readouterr().err
    assert server.limit == 2
    box.start()
    assert over_ssh(server, "try", "--restore") == 0
    assert server.limit == 16
    assert all_notes() == ()


def _when(holds: Callable[[], bool], then: Callable[[], object]) -> threading.Thread:
    def wait() -> None:
        until = time.monotonic() + 60
        while not holds() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        then()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_relaunch_over_ssh_is_measured_and_rolled_back(
    server: Served, box: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ppagent.trials.relaunch.ITSELF_S", 0.2)
    monkeypatch.setattr("ppagent.trials.watch.BETWEEN_LOOKS_S", 0.1)
    change = {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"proposals": [{"id": "P1", "kind": "relaunch", "change": change}]}))
    words = ["--proposal", "P1", "--report", str(report), "--yes", "5", "--keep", "never", "--no-answers"]
    assert over_ssh(server, "try", *words, *LOAD, "--seconds", "1", "--turnovers", "1", "--max-seconds", "60") == 0
    told = capsys.readouterr()
    assert "+ --pp-max-micro-batch-size 2" in told.err
    assert "the old launch serves again" in told.out
    assert (server.limit, all_notes()) == (16, ())
    assert _pids(server.url) != [server.process.pid]
