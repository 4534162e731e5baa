"""A recording diagnoses as the live server does, and is whole however the recording ended."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.record.folder import CannotWrite, Folder
from ppagent.record.outcome import End
from ppagent.record.takes import ALSO_RUN, FIRST, LAST
from ppagent.targets.open import open_target
from ppagent.targets.recording import Recording
from ppagent.targets.remote.link import End as RunEnd
from ppagent.targets.remote.link import LinkLost, Ran
from ppagent.targets.remote.scrape_remark import remark_of, with_remark
from ppagent.targets.target import Artifact, SourceHit
from ppagent_evals.check_case import faults_of
from tests.record.record_fakes import INCIDENTS, FakeLive, diagnosed, record, told

QUESTION = "gpu util at 150/200 out of 600, 8 requests in flight, why?"


@pytest.mark.parametrize(
    "name", ["kimi-k26-pp8", "cg005-two-node-deadlock", "hw003-foreign-job", "la004-renamed-flag", "healthy-tp8-h200"]
)
def test_a_recording_is_diagnosed_as_the_live_server_is(name: str, tmp_path: Path) -> None:
    live = told(diagnosed(FakeLive(INCIDENTS / name), QUESTION))
    record(FakeLive(INCIDENTS / name), tmp_path, question=QUESTION)
    assert told(diagnosed(Recording(tmp_path))) == live


@pytest.mark.parametrize("name", ["kimi-k26-pp8", "pp003-limit-left-behind"])
def test_a_copy_of_a_recording_holds_the_same_and_is_diagnosed_the_same(name: str, tmp_path: Path) -> None:
    source = INCIDENTS / name
    record(Recording(source), tmp_path)
    held = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    copied = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert copied == held
    assert all((tmp_path / p).read_bytes() == (source / p).read_bytes() for p in held if p.name != "incident.yaml")
    assert yaml.safe_load((tmp_path / "incident.yaml").read_text()) == {
        "stated": [], "tags": [], **yaml.safe_load((source / "incident.yaml").read_text())
    }  # fmt: skip
    assert told(diagnosed(Recording(tmp_path))) == told(diagnosed(Recording(source)))


def test_every_artifact_is_asked_for(tmp_path: Path) -> None:
    live = FakeLive(INCIDENTS / "kimi-k26-pp8")
    record(live, tmp_path)
    assert set(live.asked) == {a.value for a in Artifact if a is not Artifact.SERVER_LOG} | {"log"}
    assert {*FIRST, *LAST, Artifact.COMMANDS, Artifact.SERVER_LOG} == set(Artifact)


def test_the_log_is_read_once_more_after_the_window(tmp_path: Path) -> None:
    live = FakeLive(INCIDENTS / "kimi-k26-pp8")
    outcome = record(live, tmp_path)
    assert live.asked[-1] == "log"
    assert live.asked.count("log") == 2
    assert [got.name for got in outcome.got].count("server.log") == 1


def test_a_recorded_case_lacks_only_its_answer(tmp_path: Path) -> None:
    record(FakeLive(INCIDENTS / "kimi-k26-pp8"), tmp_path, question="why?")
    assert [fault.split(" ", 1)[1] for fault in faults_of(tmp_path)] == [
        "has no answer. Write answer.yaml, or leave the case out of the eval."
    ]
    incident = yaml.safe_load((tmp_path / "incident.yaml").read_text())
    assert incident["origin"] == {"kind": "measured"}
    assert incident["stack"]["version"] == "0.5.11"
    assert incident["stack"]["gpus"] == "8x NVIDIA RTX PRO 6000 Blackwell Workstation Edition"
    assert "Not recorded: metrics of gpu-box: metrics were not recorded." in incident["notes"]


class Secretive(FakeLive):
    """Whatever it is asked for holds a secret."""

    def text(self, host: str, artifact: Artifact) -> str:
        name = artifact.value
        if name.endswith((".json", ".jsonl")):
            return json.dumps({"api_key": "hunter22", "cmd": ["--api-key", "hunter22"], "x": "sk-hunter22hunter22"})
        return "--api-key hunter22\nHF_TOKEN=hunter22\n"

    def log(self, host: str) -> Iterator[bytes]:
        return iter([b"[2026-01-01 00:00:00] server_args=ServerArgs(api_key='hunter22')\n", b"\xff\x1b[1m\n"])

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        return (("metrics/1.prom", 'm{password="hunter22"} 1\n'),)


def test_no_secret_reaches_the_disk_and_json_stays_json(tmp_path: Path) -> None:
    record(Secretive(INCIDENTS / "kimi-k26-pp8"), tmp_path, question="why --api-key hunter22?")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > len(Artifact)
    assert not [path for path in files if b"hunter22" in path.read_bytes()]
    for path in tmp_path.rglob("*.json"):
        assert json.loads(path.read_text())["api_key"] == "[masked]"
    assert b"\xff\x1b[1m\n" in (tmp_path / "hosts/gpu-box/server.log").read_bytes()


class Ending(FakeLive):
    """Comes to an end when its log is asked for."""

    error: BaseException = KeyboardInterrupt()

    def log(self, host: str) -> Iterator[bytes]:
        raise self.error


def whole(root: Path) -> set[str]:
    """The names of all files, none of which is a piece of one."""
    names = {path.name for path in root.rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith(".part")]
    assert yaml.safe_load((root / "incident.yaml").read_text())["schema_version"] == 1
    return names


def test_ctrl_c_keeps_what_there_is_and_names_what_was_not_asked_for(tmp_path: Path) -> None:
    outcome = record(Ending(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    assert outcome.end is End.CANCELLED
    assert {"launch.txt", "server_info.json", "topology.txt"} <= whole(tmp_path)
    assert [lack.name for lack in outcome.lacks if "not asked for" in lack.why] == [
        "server.log", "metrics", "gpus.csv", "gpu_processes.csv", "loads.json", "the log's newest lines",
    ]  # fmt: skip
    notes = yaml.safe_load((tmp_path / "incident.yaml").read_text())["notes"]
    assert "The recording ended early: cancelled." in notes
    assert "Not recorded: server.log of gpu-box: not asked for: cancelled." in notes
    assert [fault.split(" ", 1)[1] for fault in faults_of(tmp_path)] == [
        "has no question.", "has no answer. Write answer.yaml, or leave the case out of the eval."
    ]  # fmt: skip
    assert diagnosed(Recording(tmp_path)).status == "finished"


def test_a_host_whose_connection_is_lost_is_not_asked_again(tmp_path: Path) -> None:
    live = Ending(INCIDENTS / "cg005-two-node-deadlock")
    live.error = LinkLost("the connection to node0 is lost")
    first = live.hosts[0]
    live.log = lambda host: live._held.log(host) if host != first else _lost(live.error)  # type: ignore[method-assign]
    outcome = record(live, tmp_path)
    assert outcome.end is End.LOST
    lost = {lack.name for lack in outcome.lacks if lack.host == first and "is lost" in lack.why}
    assert {"server.log", "metrics", "gpus.csv"} <= lost
    assert (tmp_path / "hosts" / first / "launch.txt").is_file()
    assert not (tmp_path / "hosts" / first / "server.log").exists()
    assert (tmp_path / "hosts" / live.hosts[1] / "server.log").is_file()
    notes = yaml.safe_load((tmp_path / "incident.yaml").read_text())["notes"]
    assert f"Not recorded: server.log of {first}: the connection to node0 is lost." in notes
    assert "The recording ended early: the connection to node0 is lost." in notes
    assert [fault.split(" ", 1)[1] for fault in faults_of(tmp_path)] == [
        "has no question.", "has no answer. Write answer.yaml, or leave the case out of the eval."
    ]  # fmt: skip
    assert diagnosed(Recording(tmp_path)).status == "finished"


def _lost(error: BaseException) -> Iterator[bytes]:
    raise error


def test_a_full_disk_ends_it_with_what_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "server.log" in path.name or (tmp_path / "hosts/gpu-box/topology.txt").exists():
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    outcome = record(FakeLive(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    assert outcome.end is End.UNWRITTEN
    assert "the disk is full" in outcome.why
    assert "topology.txt" in whole(tmp_path)
    assert yaml.safe_load((tmp_path / "incident.yaml").read_text())["origin"] == {"kind": "measured"}


def fill_up(root: Path, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the disk of `root` holds so many bytes and no more."""
    write = Path.write_bytes

    def limited(path: Path, data: bytes) -> int:
        held = sum(each.stat().st_size for each in root.rglob("*") if each.is_file())
        if held + len(data) > room:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", limited)


@pytest.mark.parametrize("room_kib", [80, 120, 300])
def test_a_disk_that_fills_up_leaves_a_case_that_says_what_is_missing(
    room_kib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "case"
    live = FakeLive(INCIDENTS / "kimi-k26-pp8")
    live.log = lambda host: iter([b"[2026-01-01 00:00:00] x\n"] * 100_000)  # type: ignore[method-assign]
    fill_up(root, room_kib << 10, monkeypatch)
    outcome = record(live, root, question="why?")
    assert outcome.end is End.UNWRITTEN
    assert "launch.txt" in whole(root)
    assert not (root / ".room").exists()
    notes = yaml.safe_load((root / "incident.yaml").read_text())["notes"]
    assert any(note.startswith("The recording ended early") and "the disk is full" in note for note in notes)
    assert any(note.startswith("Not recorded: server.log of gpu-box: not asked for") for note in notes)
    assert [fault.split(" ", 1)[1] for fault in faults_of(root)] == [
        "has no answer. Write answer.yaml, or leave the case out of the eval."
    ]
    assert diagnosed(Recording(root)).status == "finished"


def test_a_source_that_does_not_fit_is_left_out_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "case"
    live = FakeLive(INCIDENTS / "kimi-k26-pp8")
    write = Folder.write

    def full(folder: Folder, place: str, text: str) -> int:
        if len(list(root.rglob("source/**/*.py"))) == 2:
            raise CannotWrite(folder.root / place, OSError(28, "No space left on device"))
        return write(folder, place, text)

    monkeypatch.setattr(Folder, "write", full)
    live.source = lambda host: Sources()  # type: ignore[return-value, method-assign]
    outcome = record(live, root)
    assert outcome.end is End.UNWRITTEN
    assert not list(root.rglob("source"))
    assert "source" in [lack.name for lack in outcome.lacks]


class Sources:
    """Three files of a package."""

    def files(self) -> tuple[str, ...]:
        return tuple(f"sglang/srt/arg_groups/{name}.py" for name in "abc")

    def read(self, path: str) -> str:
        return f"NAME = {path!r}\n"

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]:
        return ()


def test_a_disk_that_is_full_from_the_start_is_no_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_up(tmp_path, 1000, monkeypatch)
    outcome = record(FakeLive(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    assert (outcome.end, outcome.got) == (End.UNWRITTEN, [])
    assert "the disk is full" in outcome.why
    assert list(tmp_path.iterdir()) == []


class Commands(FakeLive):
    """Runs commands, and has them to tell."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.ran: list[tuple[str, ...]] = []

    def command(self, host: str, argv: Sequence[str], timeout_s: float) -> Ran:
        self.ran.append(tuple(argv))
        return Ran(tuple(argv), RunEnd.EXITED, 0, b"", b"", 0.0)

    def places(self, host: str) -> tuple[str, ...]:
        return ()

    def text(self, host: str, artifact: Artifact) -> str:
        if artifact is Artifact.COMMANDS:
            return "".join(f"{json.dumps({'argv': argv})}\n" for argv in self.ran)
        return super().text(host, artifact)


def test_further_commands_are_run_and_recorded(tmp_path: Path) -> None:
    live = Commands(INCIDENTS / "kimi-k26-pp8")
    record(live, tmp_path)
    assert live.ran == list(ALSO_RUN)
    assert (tmp_path / "hosts/gpu-box/commands.jsonl").read_text().count("nvidia-smi") == 3


class Slow(FakeLive):
    """Takes its time for cards and for metrics, and says when."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.begun: dict[str, float] = {}

    def text(self, host: str, artifact: Artifact) -> str:
        if artifact is Artifact.GPUS and "cards" not in self.begun:
            self.begun["cards"] = time.monotonic()
        return super().text(host, artifact)

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        time.sleep(0.3)
        self.begun["scraped"] = time.monotonic()
        raise NotRecorded("no metrics")


def test_cards_are_watched_while_metrics_are_scraped(tmp_path: Path) -> None:
    live = Slow(INCIDENTS / "kimi-k26-pp8")
    record(live, tmp_path)
    assert live.begun["cards"] < live.begun["scraped"]


def test_an_artifact_that_is_empty_or_cannot_be_read_is_a_lack_with_a_command(tmp_path: Path) -> None:
    class Odd(FakeLive):
        def text(self, host: str, artifact: Artifact) -> str:
            if artifact is Artifact.TOPOLOGY:
                return " \n"
            raise ToolError("rights are missing")

    outcome = record(Odd(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    lacks = {lack.name: (lack.why, lack.command) for lack in outcome.lacks}
    assert lacks["topology.txt"] == ("topology.txt is empty", "nvidia-smi topo -m")
    assert lacks["server_info.json"] == ("rights are missing", "curl -s localhost:30000/server_info")
    assert lacks["host.json"][1] == "ppagent record local -o DIR"


def test_a_log_alone_becomes_a_recording_that_is_diagnosed_the_same(tmp_path: Path) -> None:
    log = INCIDENTS / "decode-log-only.log"
    outcome = record(open_target(str(log)), tmp_path / "r")
    assert (tmp_path / "r/hosts/server/server.log").read_bytes() == log.read_bytes()
    assert "server gpus.csv" in outcome.absent
    assert outcome.lacks == []
    assert told(diagnosed(Recording(tmp_path / "r"))) == told(diagnosed(open_target(str(log))))


def test_a_recording_may_be_written_over_with_force(tmp_path: Path) -> None:
    record(FakeLive(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    (tmp_path / "answer.yaml").write_text("mine\n")
    with pytest.raises(UserError):
        record(FakeLive(INCIDENTS / "hw003-foreign-job"), tmp_path)
    record(FakeLive(INCIDENTS / "hw003-foreign-job"), tmp_path, force=True)
    assert not [path for path in (tmp_path / "hosts/gpu-box").rglob("*") if path.is_file()]
    assert (tmp_path / "answer.yaml").read_text() == "mine\n"
    assert isinstance(Folder(tmp_path).root, Path)
    assert Recording(tmp_path).hosts == FakeLive(INCIDENTS / "hw003-foreign-job").hosts


class EndsEarly(Recording):
    """Of its scrapes one came."""

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        return (("metrics/1.prom", with_remark("x 1\n", "scrape 2 of 3 did not come: the connection is lost")),)


def test_a_recording_says_why_it_has_fewer_scrapes_and_so_does_a_diagnosis_of_it(tmp_path: Path) -> None:
    outcome = record(EndsEarly(INCIDENTS / "kimi-k26-pp8"), tmp_path)
    (got,) = [got for got in outcome.got if got.name == "metrics"]
    assert got.remark.endswith("; scrape 2 of 3 did not come: the connection is lost")
    (host,) = Recording(tmp_path).hosts
    assert remark_of(Recording(tmp_path).scrapes(host)[0][1]) == "scrape 2 of 3 did not come: the connection is lost"
