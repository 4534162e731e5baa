"""Whether a server serves again, asked after a trial died: wherever it listens, as its process tells."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.cli.try_restore import _serving
from ppagent.targets.remote.local_link import LocalLink
from ppagent.trials.note import RestoreNote
from tests.fixtures.fake_server import PACKAGE
from tests.fixtures.sshd import free_port


@pytest.fixture
def port_elsewhere(tmp_path: Path) -> Iterator[int]:
    """The port of a server that listens on another address than the usual one."""
    port = free_port()
    words = ["-m", "sglang.launch_server", "--host", "127.0.0.2", "--port", str(port), "--pp-size", "1"]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, *words], env=env, stderr=log, start_new_session=True)
    yield port
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def test_a_server_that_listens_on_another_address_is_seen_to_serve(port_elsewhere: int) -> None:
    left = RestoreNote("relaunch", f"ssh://box/{port_elsewhere}")
    until = time.monotonic() + 60
    with _serving(left, LocalLink()) as serves:
        while not (serving := serves()) and time.monotonic() < until:
            time.sleep(0.2)
    assert serving


def test_a_port_that_nobody_listens_on_does_not_serve() -> None:
    with _serving(RestoreNote("relaunch", f"ssh://box/{free_port()}"), LocalLink()) as serves:
        assert not serves()
