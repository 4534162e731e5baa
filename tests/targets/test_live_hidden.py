"""What the kernel hides of a process in a container from an account that may ask the container's engine."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ppagent.targets.remote.link import Running
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.processes import Process, read_processes
from ppagent.targets.remote.sections import Sections, run_sections, script

ID = secrets.token_hex(32)
_TREES = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/systemd")
DOCKER = """#!/bin/sh
echo "$@" >>{log}
case "$1 $3" in
  "exec cat") printf 'PATH=/opt/conda/bin\\0HF_TOKEN=hf_secret\\0NCCL_DEBUG=INFO\\0EDITOR=vi\\0' ;;
  "exec sh") shift 2; exec "$@" ;;
  "ps "*) echo "{id} one 0.0.0.0:31001->30000/tcp" ;;
esac
"""


class AsNobody(LocalLink):
    """This machine as an account without rights sees it."""

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        return super().start(["setpriv", "--reuid=65534", "--clear-groups", *argv], timeout_s=timeout_s, stdin=stdin)


@pytest.fixture
def contained() -> Iterator[int]:
    """A process of root whose group is that of a docker container."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    tree = next((Path(each) for each in _TREES if os.access(Path(each, "cgroup.procs"), os.W_OK)), None)
    if tree is None:
        pytest.skip("no control group can be made here")
    group = tree / f"docker-{ID}.scope"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    words = [sys.executable, "-c", "import time; time.sleep(60)", "-m", "sglang.launch_server"]
    process = subprocess.Popen(words, env={"HF_TOKEN": "hf_secret"})
    try:
        (group / "cgroup.procs").write_text(str(process.pid))
        yield process.pid
    finally:
        process.kill()
        process.wait()
        group.rmdir()


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that lets anybody in; what it was asked is in the file that is returned."""
    log = tmp_path / "asked"
    log.touch()
    log.chmod(0o666)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    (tmp_path / "docker").write_text(DOCKER.format(log=log, id=ID))
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return log


def look(link: LocalLink, pid: int) -> tuple[Process, Sections]:
    survey = run_sections(link, script("survey.sh"), "0.1", timeout_s=60)
    return next(process for process in read_processes(survey) if process.pid == pid), survey


def test_the_engine_is_asked_for_what_the_kernel_hides_and_no_secret_leaves(contained: int, docker: Path) -> None:
    found, survey = look(AsNobody(), contained)
    assert found.env == {"PATH": "/opt/conda/bin", "HF_TOKEN": "[masked]", "NCCL_DEBUG": "INFO"}
    assert found.env_read
    assert found.contained.within
    assert (found.contained.name, found.contained.first) == ("one", None)
    assert "hf_secret" not in survey["variables"].text
    assert f"exec {ID} cat /proc/{contained}/environ" in docker.read_text()


def test_the_engine_is_not_asked_where_the_kernel_tells(contained: int, docker: Path) -> None:
    found, _ = look(LocalLink(), contained)
    assert found.env == {"HF_TOKEN": "[masked]"}
    assert not found.contained.within
    assert docker.read_text() == "ps --no-trunc --format {{.ID}} {{.Names}} {{.Ports}}\n"
