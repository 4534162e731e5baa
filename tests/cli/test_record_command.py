"""ppagent record from the command line, on a server that runs on this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ppagent.cli.main import main
from ppagent.cli.record import MOST_SCRAPES, _windows
from ppagent.errors import ExitStatus, UserError
from ppagent.targets.open_live import open_live
from ppagent.targets.recording import Recording
from ppagent.targets.target import Artifact
from tests.fixtures.fake_server import FakeServer
from tests.record.record_fakes import INCIDENTS, FakeLive, diagnosed, told

ROOT = Path(__file__).parents[2]
KIMI = str(INCIDENTS / "kimi-k26-pp8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeServer]:
    running = FakeServer(tmp_path_factory.mktemp("server")).start()
    yield running
    running.stop()


def test_a_running_server_becomes_a_recording_and_one_file(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "my-case"
    words = ["--port", str(server.port), "--seconds", "1", "--question", "why?", "--stated", "Four clients.", "--pack"]

    status = main(["record", "local", "-o", str(root), *words])

    shown = capsys.readouterr()
    host = root / "hosts" / "local"
    assert status == ExitStatus.OK
    assert "got      local server.log" in shown.out
    assert "my-case.tar.gz" in shown.err
    assert len(list((host / "metrics").glob("*.prom"))) >= 2
    assert (host / "server.log").read_bytes() == server.log.read_bytes()
    assert json.loads((host / "server_info.json").read_text())["version"] == "0.5.10"
    assert (host / "source/sglang/srt/managers/scheduler_pp_mixin.py").is_file()
    assert not [p for p in root.rglob("*") if p.is_file() and b"hf_0123456789" in p.read_bytes()]
    incident = yaml.safe_load((root / "incident.yaml").read_text())
    assert (incident["question"], incident["stated"], incident["id"]) == ("why?", ["Four clients."], "my-case")
    assert incident["stack"] == {"engine": "sglang", "version": "0.5.10", "model": "model"}
    assert main(["diagnose", str(tmp_path / "my-case.tar.gz"), "--brain", "rules"]) in (0, 3)


def test_the_recording_is_diagnosed_as_the_server_it_is_of(server: FakeServer, tmp_path: Path) -> None:
    main(["record", "local", "-o", str(tmp_path / "r"), "--port", str(server.port), "--seconds", "1"])
    target = open_live("local", port=server.port, windows=_windows(1))
    try:
        live = told(diagnosed(target))
    finally:
        target.close()
    assert told(diagnosed(Recording(tmp_path / "r"))) == live


HEARING = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from ppagent.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
"""ppagent as at a terminal: what a shell starts in the background, tests among it, inherits that Ctrl-C is ignored."""


def test_ctrl_c_ends_it_at_once_with_what_there_is(server: FakeServer, tmp_path: Path) -> None:
    root = tmp_path / "r"
    words = ["record", "local", "-o", str(root), "--port", str(server.port), "--seconds", "600"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("", "tools", "evals", "prompts"))}
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    log = root / "hosts/local/server.log"
    until = time.monotonic() + 30
    while not log.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert process.returncode == ExitStatus.CANCELLED
    assert time.monotonic() - began < 10
    assert "lacking  local metrics" in out
    assert "cancelled; what is in" in err
    assert "Traceback" not in err
    assert log.read_bytes() == server.log.read_bytes()
    assert not list(root.rglob("*.part"))


@pytest.mark.parametrize("output", [KIMI, f"{KIMI}/hosts/copy", str(INCIDENTS)])
def test_a_copy_may_not_lie_over_what_it_copies(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", KIMI, "-o", output, "--force"]) == ExitStatus.USAGE
    assert "overlap" in capsys.readouterr().err
    assert (INCIDENTS / "kimi-k26-pp8" / "incident.yaml").is_file()


def test_a_folder_that_holds_something_is_refused_before_it_is_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").touch()
    assert main(["record", KIMI, "-o", str(tmp_path)]) == ExitStatus.USAGE
    assert "holds mine.txt. Name a new or empty folder, or give --force." in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_archive_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "r.tar.gz").write_bytes(b"mine")
    assert main(["record", KIMI, "-o", str(tmp_path / "r"), "--pack"]) == ExitStatus.USAGE
    assert not (tmp_path / "r").exists()
    assert main(["record", KIMI, "-o", str(tmp_path / "r"), "--pack", "--force"]) == ExitStatus.OK
    assert (tmp_path / "r.tar.gz").read_bytes() != b"mine"


def test_where_nothing_of_a_server_is_seen_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = tmp_path / "in" / "hosts" / "a"
    host.mkdir(parents=True)
    (host / "host.json").write_text('{"cores": 8}')
    assert main(["record", str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == ExitStatus.NOT_ENOUGH_EVIDENCE
    assert "nothing of an SGLang server could be read" in capsys.readouterr().err


def test_a_full_disk_is_said_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "server.log" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["record", KIMI, "-o", str(tmp_path / "r")]) == ExitStatus.FAILURE
    assert "the disk is full" in capsys.readouterr().err
    assert Recording(tmp_path / "r").hosts == ("gpu-box",)


@pytest.mark.parametrize(("seconds", "scrapes"), [(1.0, 2), (10.0, 3), (60.0, 12), (3600.0, MOST_SCRAPES)])
def test_metrics_are_scraped_at_least_twice_and_up_to_the_end_of_the_window(seconds: float, scrapes: int) -> None:
    windows = _windows(seconds)
    assert windows.scrapes == scrapes
    assert windows.gpu_s == seconds
    assert windows.scrape_gap_s * (scrapes - 1) == pytest.approx(seconds)


def test_a_window_of_more_than_an_hour_is_refused() -> None:
    with pytest.raises(UserError):
        _windows(3601)


def test_what_only_the_user_can_put_right_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Several(FakeLive):
        def text(self, host: str, artifact: Artifact) -> str:
            raise UserError("2 SGLang servers run on local.", "Choose one with --port.")

    monkeypatch.setattr("ppagent.targets.open.open_target", lambda *_, **__: Several(Path(KIMI)))
    assert main(["record", "local", "-o", str(tmp_path / "r")]) == ExitStatus.USAGE
    assert "Choose one with --port." in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_where_nothing_could_be_written_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["record", KIMI, "-o", str(tmp_path / "r")]) == ExitStatus.FAILURE
    told = capsys.readouterr().err
    assert "the disk is full" in told
    assert "Nothing was recorded." in told
    assert "can be diagnosed" not in told
