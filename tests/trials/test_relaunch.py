import os
import shlex
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ppagent.bench.control import Control
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.targets.remote.local_link import LocalLink
from ppagent.trials import relaunch
from ppagent.trials.bring_back import bring_back
from ppagent.trials.machine import Machine
from ppagent.trials.note import RestoreNote, read_note, write_note
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.serving import answers
from tests.bench.fakes import free_port

ROOT = Path(__file__).parents[2]
SHAPE = Shape(concurrency=8, input_tokens=Span(8, 8), output_tokens=Span(6, 14))


@dataclass
class Served:
    """A server process, and what to call it."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path
    argv: list[str]

    @property
    def control(self) -> Control:
        """The test's own view, which asks for no certificate."""
        endpoint = replace(parse_endpoint(self.url), recognised_by=ssl._create_unverified_context())
        return Control(endpoint, timeout_s=3)

    @property
    def limit(self) -> int | None:
        return self.control.server_info().slot_limit


def launched(folder: Path, *more: str) -> Served:
    port = free_port()
    argv = [sys.executable, "-m", "sglang.launch_server", "--model-path", "x", "--port", str(port), "--pp-size", "4"]
    log = folder / "server.log"
    path = f"{ROOT}:{ROOT / 'tests/trials/fake_site'}"
    env = {**os.environ, "PYTHONPATH": path, "SGLANG_SECRET_TOKEN": "hunter2"}
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*argv, *more],
            cwd=folder,
            env=env,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    secure = "--ssl-certfile" in more
    served = Served(process, f"{'https' if secure else 'http'}://127.0.0.1:{port}", log, argv)
    _wait(lambda: answers(served.control))
    return served


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(relaunch, "ITSELF_S", 0.2)
    monkeypatch.setattr("ppagent.trials.watch.BETWEEN_LOOKS_S", 0.1)
    served = launched(tmp_path)
    yield served
    for pid in _pids(served.url):
        os.kill(pid, signal.SIGKILL)
    served.process.wait(5)


def site(served: Served, new: str, **env: str) -> Site:
    machine = Machine(LocalLink(), sys.executable)
    kept = machine.save(served.process.pid, "trial")
    machine.prepare(kept.folder, [*served.argv, *shlex.split(new)], env)
    return Site(served.url, machine, served.process.pid, kept, "local", lambda: answers(served.control))


def run(served: Served, where: Site, **options: object) -> RelaunchOutcome:
    known: dict[str, object] = {"seconds": 0.3, "start_limit_s": 10}
    return run_relaunch(
        where,
        lambda: OwnLoad(parse_endpoint(served.url), SHAPE, PromptSource(), turnovers=1, settle_limit_s=10),
        **{**known, **options},  # type: ignore[arg-type]
    )


def test_a_better_launch_is_measured_and_kept(server: Served) -> None:
    check = OutputCheck(server.control, tokens=3)
    outcome = run(server, site(server, "--pp-max-micro-batch-size 2", SGLANG_NEW="1"), check=check)
    assert outcome.comparison is not None
    assert outcome.comparison.outcome == "better"
    assert outcome.kept
    assert outcome.outputs == "identical"
    assert server.limit == 2
    assert read_note(server.url) is None
    (pid,) = _pids(server.url)
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"SGLANG_NEW=1" in environ
    assert b"SGLANG_SECRET_TOKEN=hunter2" in environ
    assert Path(f"/proc/{pid}/cwd").readlink() == server.log.parent
    assert server.log.read_text().count("fired up") == 2


def test_a_launch_that_is_no_better_is_rolled_back(server: Served) -> None:
    outcome = run(server, site(server, "--base-ms 6"))
    assert outcome.comparison is not None
    assert outcome.comparison.outcome != "better"
    assert not outcome.kept
    (pid,) = _pids(server.url)
    assert b"--base-ms" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert read_note(server.url) is None


def test_a_launch_that_fails_ends_with_the_old_server_serving(server: Served) -> None:
    outcome = run(server, site(server, "--attention-backend fa3"))
    assert outcome.comparison is None
    assert "out of memory" in outcome.failure
    assert not outcome.kept
    assert answers(server.control)
    assert server.limit == 16
    assert read_note(server.url) is None


def test_a_launch_that_never_gets_ready_is_given_up(server: Served) -> None:
    outcome = run(server, site(server, "--attention-backend flashinfer"), start_limit_s=0.8)
    assert "not ready after" in outcome.failure
    assert len(_pids(server.url)) == 1
    assert answers(server.control)


def test_an_interrupt_while_the_new_server_is_measured_brings_the_old_one_back(server: Served) -> None:
    def say(sentence: str) -> None:
        if sentence.startswith("after: settled"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(server, site(server, "--pp-max-micro-batch-size 2"), say=say)
    assert answers(server.control)
    assert server.limit == 16
    assert read_note(server.url) is None


def test_where_not_even_the_old_server_comes_back_the_note_stays(server: Served) -> None:
    where = site(server, "--attention-backend fa3")
    old = Path(where.launched.folder, "old.json")
    old.write_text(old.read_text().replace('"--pp-size"', '"--no-such-flag"'))
    with pytest.raises(ToolError, match="does NOT serve"):
        run(server, where)
    left = read_note(server.url)
    assert left is not None
    assert left.kind == "relaunch"
    assert left.launch["folder"] == where.launched.folder


def test_the_old_launch_is_brought_back_by_its_note_after_a_crash(server: Served) -> None:
    where = site(server, "--pp-max-micro-batch-size 2")
    where.machine.stop(server.process.pid, 5)
    note = RestoreNote("relaunch", server.url, launch={"folder": where.launched.folder}, pid=1, pid_started="0")
    write_note(note)
    told = bring_back(note, where.machine, where.answers, 10, lambda sentence: None)
    assert "serves again" in told
    assert server.limit == 16
    assert "serves" in bring_back(note, where.machine, where.answers, 10, lambda sentence: None)


def test_the_environment_with_its_keys_stays_in_a_file_of_its_owner(server: Served) -> None:
    where = site(server, "--pp-max-micro-batch-size 2")
    for name in ("old", "new"):
        path = Path(where.launched.folder, f"{name}.json")
        assert "hunter2" in path.read_text()
        assert path.stat().st_mode & 0o077 == 0
    assert "hunter2" not in repr(where)


def test_a_process_that_is_not_there_cannot_be_kept() -> None:
    with pytest.raises(ToolError, match="save on local was not done"):
        Machine(LocalLink(), sys.executable).save(2**22 + 1, "x")


def test_a_host_without_that_python_is_said_so() -> None:
    with pytest.raises(ToolError, match="was not done"):
        Machine(LocalLink(), "/no/such/python").save(1, "x")


def _pids(url: str) -> list[int]:
    port = url.rpartition(":")[2].encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"sglang.launch_server" in words and port in words:
                found.append(int(folder.name))
    return found


def _wait(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
