"""The same against a real podman, where there is one that can start a container here; the reason is said otherwise."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppagent.targets.remote.link import run
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.log_place import LogPlace
from ppagent.targets.remote.log_stream import read_log
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.trials.bring_back import bring_back, keeper_in
from ppagent.trials.container import ContainerMachine
from ppagent.trials.launches import NewLaunch
from ppagent.trials.note import RestoreNote
from ppagent.trials.watch import READY, StartFailed, wait_until_ready
from ppagent.trials.way import way_of

PATIENCE_S = 120
SERVER = f"""import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("start", *sys.argv[1:], flush=True)
if "--fail" in sys.argv:
    raise SystemExit("torch.OutOfMemoryError: CUDA out of memory.")
print({READY!r}, flush=True)
while True:
    time.sleep(0.1)
"""


@dataclass(frozen=True)
class Podman:
    """A container that runs a stand-in for a server, on storage of its own."""

    server: Server
    id: str

    def says(self, *words: str) -> str:
        return run(LocalLink(), ["podman", *words], timeout_s=PATIENCE_S).text

    def launch(self, *more: str) -> NewLaunch:
        old, new = self.server.launcher.cmdline, (*self.server.launcher.cmdline, *more)
        return NewLaunch(shlex.join(old), shlex.join(new), "", new, {"SGLANG_X": "1"})

    def prepared(self, *more: str) -> ContainerMachine:
        way = way_of(LocalLink(), self.server, self.launch(*more))
        assert way.prepare is not None, way.reason
        machine, _ = way.prepare()
        assert isinstance(machine, ContainerMachine)
        return machine

    def states(self) -> dict[str, bool]:
        rows = json.loads(self.says("ps", "-a", "--format", "json"))
        return {row["Names"][0]: row["State"] == "running" for row in rows}


def _podman(*words: str) -> str:
    ran = subprocess.run(["podman", *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if ran.returncode:
        pytest.skip(f"podman {words[0]} does not work here: {ran.stderr.strip().splitlines()[-1:]}")
    return ran.stdout.split()[-1] if ran.stdout.split() else ""


def _read_only(*places: str) -> list[str]:
    """Mounts of what this Python needs, each folder once."""
    roots = sorted({str(Path(place).resolve()) for place in places if Path(place).exists()}, key=len)
    kept = [root for at, root in enumerate(roots) if not any(Path(root).is_relative_to(up) for up in roots[:at])]
    return [word for root in kept for word in ("-v", f"{root}:{root}:ro")]


@pytest.fixture
def podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Podman]:
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(_storage(tmp_path)))
    root = tmp_path / "rootfs"
    for name in ("usr", "etc", "tmp", "proc", "sys", "dev", "run", "srv"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        link = Path("/", name)
        (root / name).symlink_to(link.readlink()) if link.is_symlink() else (root / name).mkdir()
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    archive = shutil.make_archive(str(tmp_path / "image"), "tar", root)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "server.py").write_text(SERVER)
    image = _podman("import", archive, "localhost/ppagent-test:1")
    python = str(Path(sys.executable).resolve())
    words = [python, "/srv/server.py", "--pp-size", "4"]
    mounts = _read_only("/usr", "/lib", "/lib64", sys.base_prefix, sysconfig.get_paths()["stdlib"])
    mounts += ["-v", f"{tmp_path / 'site'}:/srv:ro"]
    options = ["--network", "host", "--label", "team=llm", "-e", "HF_TOKEN=hunter2", "-e", "PYTHONDONTWRITEBYTECODE=1"]
    there = _podman("create", "--name", "llm", *options, *mounts, "localhost/ppagent-test:1", *words)
    try:
        _podman("start", there)
        shown = json.loads(subprocess.run(["podman", "inspect", there], capture_output=True, check=True).stdout)[0]
        _until_ready(there)
        process = Process(shown["State"]["Pid"], 1, tuple(words), groups=f"0::/libpod-{there}")
        yield Podman(Server(process, (), 30000, "127.0.0.1"), there)
    finally:
        subprocess.run(["podman", "rm", "-a", "-f", "-t", "1"], capture_output=True, check=False)
        subprocess.run(["podman", "rmi", "-f", image], capture_output=True, check=False)


def _storage(folder: Path) -> Path:
    """Storage of this test alone: `rm -a` of its end concerns nobody's containers."""
    driver = "overlay" if os.geteuid() == 0 else "vfs"
    conf = folder / "storage.conf"
    conf.write_text(f'[storage]\ndriver = "{driver}"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n')
    return conf


def _until_ready(there: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while READY not in subprocess.run(["podman", "logs", there], capture_output=True, text=True, check=False).stdout:
        if time.monotonic() > until:
            pytest.skip("podman starts a container here, but no Python runs in it")
        time.sleep(0.1)


def test_a_real_container_is_exchanged_and_comes_back(podman: Podman) -> None:
    machine = podman.prepared("--pp-max-micro-batch-size", "2")
    assert podman.states() == {"llm": True}
    machine.stop(0, 20)
    started = machine.start("", "new")
    wait_until_ready(machine, started, PATIENCE_S, lambda: True, lambda sentence: None)
    assert podman.states() == {machine.put_aside: False, "llm": True}
    assert "start --pp-size 4 --pp-max-micro-batch-size 2\n" in machine.look(started, 0).text
    variables = podman.says("exec", "llm", "/usr/bin/env").splitlines()
    assert {"HF_TOKEN=hunter2", "SGLANG_X=1"} <= set(variables)
    back = keeper_in(machine.note(), LocalLink())
    note = RestoreNote("relaunch", "local/1", launch={"folder": "x", **machine.note()}, pid=1, pid_started="0")
    assert "serves again" in bring_back(note, back, lambda: True, PATIENCE_S, lambda sentence: None)
    assert podman.states() == {"llm": True}
    assert podman.id == podman.says("inspect", "-f", "{{.Id}}", "llm").strip()
    assert not back.changed


def test_a_real_container_that_fails_to_start_is_told_by_its_log_and_goes(podman: Podman) -> None:
    machine = podman.prepared("--fail")
    machine.stop(0, 20)
    with pytest.raises(StartFailed, match="CUDA out of memory"):
        wait_until_ready(machine, machine.start("", "new"), PATIENCE_S, lambda: True, lambda sentence: None)
    machine.stop(-1, 20)
    wait_until_ready(machine, machine.start("", "old"), PATIENCE_S, lambda: True, lambda sentence: None)
    assert podman.states() == {"llm": True}


def test_the_log_of_a_real_container_that_was_started_again_is_read(podman: Podman) -> None:
    podman.says("restart", "-t", "20", podman.id)
    _until_ready(podman.id)
    place = LogPlace("podman", podman.id, "podman logs")
    assert list(read_log(LocalLink(), place)).count(b"start --pp-size 4\n") == 2
    last = list(read_log(LocalLink(), place, head=60, tail=40))
    assert last == [b"start --pp-size 4\n", f"{READY}\n".encode()]


def test_a_real_container_that_was_changed_inside_is_left_alone(podman: Podman) -> None:
    podman.says("exec", podman.id, "/usr/bin/touch", "/etc/mine.conf")
    way = way_of(LocalLink(), podman.server, podman.launch())
    assert "/etc/mine.conf" in way.reason
    assert way.prepare is None
