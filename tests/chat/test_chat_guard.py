"""Nothing that a session has started outlives it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.chat.terminal import PATIENCE_S, ROOT
from tests.fixtures.sshd import pids_with

LEASHED = """
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.link import run
run(LocalLink(), ["sleep", "{seconds}"], timeout_s=900)
"""
OWN_CHILD = """
import subprocess
from ppagent.chat.guard import guarded
with guarded():
    process = subprocess.Popen(["sleep", "{seconds}"])
    process.wait({patience})
"""


def started(program: str, seconds: str, *, leads: bool = True) -> subprocess.Popen[bytes]:
    """A Python of its own process group (or of this one), once its child is there."""
    text = program.format(seconds=seconds, patience=900)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", text], env=env, process_group=0 if leads else None)
    until = time.monotonic() + PATIENCE_S
    while not sleeping(seconds):
        assert time.monotonic() < until, "the child never came"
        time.sleep(0.05)
    return process


def sleeping(seconds: str) -> list[int]:
    """Processes that do nothing but sleep so long."""
    line = f"sleep\0{seconds}\0"
    return [pid for pid in pids_with(line) if _command(pid) == line]


def _command(pid: int) -> str:
    """Of a process that goes on; empty where it has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def ends(seconds: str) -> bool:
    until = time.monotonic() + PATIENCE_S
    while sleeping(seconds):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(("program", "number"), [(LEASHED, "1"), (OWN_CHILD, "2")])
def test_what_a_tool_has_started_here_ends_when_the_session_is_killed_outright(program: str, number: str) -> None:
    seconds = f"87{number}.{os.getpid()}"
    process = started(program, seconds)

    process.send_signal(signal.SIGKILL)
    process.wait()

    assert ends(seconds)


def test_where_the_group_is_somebody_elses_it_is_left_alone() -> None:
    seconds = f"873.{os.getpid()}"
    process = started(OWN_CHILD, seconds, leads=False)

    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(1.5)

    (child,) = sleeping(seconds)
    os.kill(child, signal.SIGKILL)


def test_a_session_that_ends_by_itself_ends_nothing() -> None:
    seconds = f"874.{os.getpid()}"
    text = OWN_CHILD.replace("process.wait({patience})", "pass")
    process = started(text, seconds)

    process.wait()
    time.sleep(1.5)

    (child,) = sleeping(seconds)
    os.kill(child, signal.SIGKILL)
