"""A server that is reached through a real sshd: what the tests of loads and trials over SSH share."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ppagent.cli.main import main
from tests.fixtures.sshd import Sshd
from tests.trials.test_relaunch import Served, _pids

LOAD = ["--concurrency", "8", "--input-len", "8", "--output-len", "6-14"]
TRIAL = [*LOAD, "--set", "pp_max_micro_batch_size=2", "--yes", "3", "--turnovers", "1", "--rounds", "1"]
TRIAL += ["--think-time", "0.002", "--no-forecast", "--no-answers"]


@contextmanager
def host_called_box(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A host that the ssh configuration knows as box."""
    running = Sshd(folder / "sshd").start()
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(running.ssh_config("box")))
    yield running
    running.stop()


def run(target: str, server: Served, command: str, *words: str) -> int:
    """A command of the CLI on the server's port; its exit status."""
    return main([command, target, "--port", server.url.rpartition(":")[2], *words])


def end(served: Served) -> None:
    """Ends the server, and whatever was started in its place."""
    for pid in _pids(served.url):
        os.kill(pid, signal.SIGKILL)
    served.process.wait(5)


def when(holds: Callable[[], bool], then: Callable[[], object]) -> threading.Thread:
    """Does `then` a moment after `holds` does, beside the test; after a minute in any case."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not holds() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        then()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def relaunch_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of `try` for a relaunch with another slot limit, which ends with the old launch again."""
    monkeypatch.setattr("ppagent.trials.relaunch.ITSELF_S", 0.2)
    monkeypatch.setattr("ppagent.trials.watch.BETWEEN_LOOKS_S", 0.1)
    change = {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}}
    report = folder / "report.json"
    report.write_text(json.dumps({"proposals": [{"id": "P1", "kind": "relaunch", "change": change}]}))
    words = ["--proposal", "P1", "--report", str(report), "--yes", "5", "--keep", "never", "--no-answers"]
    return [*words, *LOAD, "--seconds", "1", "--turnovers", "1"]
