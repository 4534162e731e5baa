"""Traces as evidence: those of a recording, and new ones of a server that profiles well, badly or not at all."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fake_profiler import FakeProfiler, context_of
from tool_fakes import FakeTarget, run

from ppagent.bench.reach import Reached
from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.vocabulary import known
from ppagent.plugins import Announces, ToolContext
from ppagent.targets.live_host import LiveHost
from ppagent.targets.recording import Recording
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent_evals.writing.traces import Ring, traces
from ppagent_tools import profile_load, profile_run
from ppagent_tools.live_server import _REACHED
from ppagent_tools.profile import ReadTraces, TakeArguments, TakeTraces
from tests.bench.fakes import FakeServer

RING = Ring((5.0, 5.0, 12.0, 5.0), filled=4, steps=24)


def recording(folder: Path, files: Mapping[str, str | bytes], **hosts: Mapping[str, str | bytes]) -> Recording:
    """Traces by host; texts are packed. `box` has a launch command too."""
    for host, found in {"box": files, **hosts}.items():
        place = folder / "hosts" / host / "traces"
        place.mkdir(parents=True)
        for name, content in found.items():
            (place / name).write_bytes(content if isinstance(content, bytes) else gzip.compress(content.encode()))
    return Recording(folder)


def facts(findings: tuple[Finding, ...]) -> Mapping[str, FactValue]:
    return findings[0].facts


def remarks(found: Mapping[str, FactValue]) -> str:
    said = found.get("profile.remarks", [])
    assert isinstance(said, list)
    return "; ".join(map(str, said))


def test_the_stages_of_a_recording_are_read_together(tmp_path: Path) -> None:
    (finding,) = run(ReadTraces(), recording(tmp_path, traces(RING)))
    found = finding.facts
    busy = found["profile.busy"]
    assert isinstance(busy, dict) and list(busy) == ["PP0", "PP1", "PP2", "PP3"]
    assert max(busy, key=lambda stage: float(str(busy[stage]))) == "PP2"
    assert found["profile.effective_stages"] == pytest.approx(2.24, abs=0.1)
    assert (found["profile.graph_step_share"], found["profile.modes_told"]) == (1.0, True)
    assert found["profile.modes"] == {"DECODE": 96}
    assert (finding.artifact, finding.excerpt) == (f"traces/{RING.file_name(0)}", "step[DECODE bs=4]")
    assert finding.authority == 2


def test_traces_of_several_hosts_belong_together(tmp_path: Path) -> None:
    names = list(traces(RING).items())
    target = recording(tmp_path, dict(names[:2]), other=dict(names[2:]))
    found = facts(run(ReadTraces(), target))
    assert isinstance(found["profile.busy"], dict) and len(found["profile.busy"]) == 4


def test_a_recording_without_traces_says_so(tmp_path: Path) -> None:
    (tmp_path / "hosts" / "box" / "traces").mkdir(parents=True)
    with pytest.raises(NotRecorded):
        run(ReadTraces(), Recording(tmp_path))
    with pytest.raises(NotRecorded, match="profile.take"):
        run(ReadTraces(), FakeTarget())


def test_stages_that_wrote_over_each_other_are_noticed_and_the_one_left_is_placed(tmp_path: Path) -> None:
    old = Ring((5.0,) * 4, filled=4, steps=16, version="0.5.2")
    last = list(traces(Ring((5.0,) * 4, filled=4, steps=16, version="0.5.2")).items())
    assert {name for name, _ in last} == {old.file_name(0)}
    found = facts(run(ReadTraces(), recording(tmp_path, dict(last))))
    assert found["profile.overwritten"] is True
    assert found["profile.missing"] == ["PP0", "PP1", "PP2"]
    assert isinstance(found["profile.busy"], dict) and list(found["profile.busy"]) == ["PP3"]
    assert "wrote over each other" in remarks(found)


def test_merged_traces_are_never_read_and_older_profiles_are_left_out(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = dict(traces(RING))
    files["merged-1784200000.25.trace.json.gz"] = b"spoiled"
    files["1700000000.5-TP-0-PP-0.trace.json.gz"] = b"spoiled too"
    (finding,) = run(ReadTraces(), recording(tmp_path, files))
    assert "merged-1784200000.25.trace.json.gz is left out" in remarks(finding.facts)
    assert "traces of 1 earlier profile" in remarks(finding.facts)


def test_a_folder_of_merged_traces_alone_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no trace of a single rank"):
        run(ReadTraces(), recording(tmp_path, {"merged-1784200000.25.trace.json.gz": "{}"}))


def test_a_spoiled_trace_among_sound_ones_is_named_and_the_stage_is_missing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = dict(traces(RING))
    files[RING.file_name(1)] = gzip.compress(traces(RING)[RING.file_name(1)].encode())[:900]
    target = recording(tmp_path, files)
    (tmp_path / "hosts/box/server_info.json").write_text(json.dumps({"pp_size": 4, "tp_size": 1}))
    found = run(ReadTraces(), target)
    assert found[0].facts["profile.missing"] == ["PP1"]
    assert "cannot be unpacked" in str(found[1].facts["tool.unread"])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"<html>502 Bad Gateway</html>", "no JSON"),
        (gzip.compress(b'{"traceEvents": [{"ph"', mtime=0), "breaks off"),
        (gzip.compress(b'{"traceEvents": []}', mtime=0), "no event that takes time"),
        (b"\x1f\x8b\x08 not a gzip", "cannot be unpacked"),
    ],
)
def test_what_is_no_trace_is_an_error_in_words(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        run(ReadTraces(), recording(tmp_path, {RING.file_name(0): content}))


def test_a_trace_of_the_host_alone_says_what_the_host_did(tmp_path: Path) -> None:
    marks = [
        {"ph": "X", "cat": "user_annotation", "name": "run_batch", "ts": 1000 * n, "dur": 400, "args": {}}
        for n in range(6)
    ]
    text = json.dumps({"traceEvents": marks})
    found = facts(run(ReadTraces(), recording(tmp_path, {"1784200000.25-TP-0.trace.json.gz": text})))
    assert found["profile.kernels"] == 0
    assert found["profile.host"] == {"PP0": {"run_batch": 0.4}}
    assert "profile.busy" not in found and "profile.effective_stages" not in found
    assert "no GPU kernels in these traces" in remarks(found)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Looks often, and a server that writes traces to a folder of the test's own."""
    for name, value in (("POLL_S", 0.03), ("WRITE_S", 0.5), ("STOP_S", 5.0)):
        monkeypatch.setattr(profile_run, name, value)
    place = tmp_path / "profiles"
    place.mkdir()
    launcher = Process(1, 0, ("python", "-m", "sglang.launch_server"), env={"SGLANG_TORCH_PROFILER_DIR": f"{place}/"})
    monkeypatch.setattr(LiveHost, "server", property(lambda _: Server(launcher, (), 1, "127.0.0.1")))
    return place


@pytest.fixture
def fake() -> Iterator[FakeProfiler]:
    with FakeProfiler() as running:
        yield running


def take(fake: FakeProfiler, log: bytes = b"", **asked: object) -> Mapping[str, FactValue]:
    found = TakeTraces().run(context_of(fake, log), TakeArguments(**{"limit_s": 60, **asked}))  # type: ignore[arg-type]
    (finding,) = found
    assert finding.authority == 3 and all(known(name) for name in finding.facts)
    json.dumps(dict(finding.facts), allow_nan=False)
    return finding.facts


def test_a_running_server_is_profiled_and_nothing_is_left_behind(fake: FakeProfiler, quick: Path) -> None:
    found = take(fake, steps=16)
    ((path, body),) = fake.asked
    assert path == "/start_profile"
    assert set(body) == {"output_dir", "num_steps", "activities", "with_stack", "record_shapes"}
    assert (body["num_steps"], body["with_stack"], body["record_shapes"]) == (16, False, False)
    assert Path(body["output_dir"]).parent == quick and "ppagent-profile-" in body["output_dir"]
    assert found["profile.effective_stages"] == pytest.approx(1.85, abs=0.1)
    assert "traced under the requests of the server's users" in remarks(found)
    assert list(quick.iterdir()) == []


def test_traces_that_are_to_be_kept_stay_and_their_place_is_named(fake: FakeProfiler, quick: Path) -> None:
    found = take(fake, keep=True)
    (folder,) = quick.iterdir()
    assert len(list(folder.iterdir())) == 2
    assert str(folder) in remarks(found)


def test_what_somebody_else_put_into_the_folder_stays(fake: FakeProfiler, quick: Path) -> None:
    class Busy(FakeProfiler):
        def _write(self) -> None:
            super()._write()
            (Path(self.folder) / "notes.txt").write_text("mine")

    with Busy() as running:
        found = take(running)
    (folder,) = quick.iterdir()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert "traces were left behind" in remarks(found)


@pytest.mark.parametrize(
    ("status", "text", "why"),
    [
        (500, "Internal Server Error", "/start_profile answered 500: Internal Server Error"),
        (404, "", "does not exist on this server"),
        (401, "", "SGLANG_ADMIN_API_KEY"),
        (302, "<html>moved</html>", "answered 302"),
    ],
)
def test_a_refusal_is_an_answer_and_no_profiler_is_left_running(status: int, text: str, why: str) -> None:
    with FakeProfiler(status=status, text=text) as fake, pytest.raises(ToolError, match=why):
        take(fake)
    assert [path for path, _ in fake.asked] == ["/start_profile", "/stop_profile"]


def test_a_server_that_says_yes_and_writes_nothing_is_given_up_in_time() -> None:
    with (
        FakeProfiler(writes=False, text="<html>ok</html>") as fake,
        pytest.raises(ToolError, match="no trace was written"),
    ):
        take(fake, limit_s=1)
    assert [path for path, _ in fake.asked][-1] == "/stop_profile"


def test_a_server_with_too_little_to_do_is_stopped_and_what_it_has_is_read(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_run, "WRITE_S", 60.0)
    with FakeProfiler(waits_for_stop=True) as fake:
        found = take(fake, limit_s=1)
    assert "fewer were traced" in remarks(found)
    assert list(quick.iterdir()) == []


def test_a_rank_that_writes_nothing_is_waited_for_and_then_named() -> None:
    with FakeProfiler(without=1) as fake:
        found = take(fake)
    assert "1 of 2 ranks wrote a trace" in remarks(found)
    assert found["profile.missing"] == ["PP1"]


def test_spoiled_traces_are_no_answer_and_are_taken_away(quick: Path) -> None:
    with FakeProfiler(spoil=lambda data: data[:500]) as fake, pytest.raises(ToolError, match="cannot be unpacked"):
        take(fake)
    assert list(quick.iterdir()) == []


def test_a_trace_beyond_the_limit_is_not_fetched(fake: FakeProfiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent_tools.profile_take.LARGEST_MIB", 0)
    with pytest.raises(ToolError, match="was not fetched"):
        take(fake)


def test_no_second_profiler_is_started_beside_one_that_runs(fake: FakeProfiler) -> None:
    log = b"[2026-11-29 22:00:00 PP0] Profiling starts. Traces will be saved to: /tmp (with profile id: 1)\n"
    with pytest.raises(ToolError, match="runs on this server already"):
        take(fake, log)
    assert fake.asked == []
    take(fake, log + b"[2026-11-29 22:00:09 PP0] Profiling done. Traces are saved to: /tmp\n")
    with FakeProfiler() as again:
        take(again, log + b"[2026-11-29 22:00:09] server_args=ServerArgs(model_path='x')\n")


def test_a_scheduler_that_would_not_survive_is_left_alone(fake: FakeProfiler, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Process(1, 0, ("python",), env={"SGLANG_PROFILE_V2": "1"})
    monkeypatch.setattr(LiveHost, "server", property(lambda _: Server(launcher, (), 1, "127.0.0.1")))
    with pytest.raises(ToolError, match="SGLANG_PROFILE_V2"):
        take(fake)
    assert fake.asked == []


def test_it_says_beforehand_what_it_would_do(fake: FakeProfiler) -> None:
    tool = TakeTraces()
    assert isinstance(tool, Announces)
    told = tool.announce(context_of(fake), TakeArguments(steps=16))
    assert "16 forwards of every rank" in told.runs and "1024 MiB of traces" in told.runs
    assert "may not survive a second profiler" in told.runs
    assert "stands still" in told.effect and told.where == fake.url
    with FakeProfiler(version="0.5.2") as old:
        assert "write over each other's traces" in tool.announce(context_of(old), TakeArguments()).runs
    with FakeProfiler(version="0.5.23") as new:
        assert "second profiler" not in tool.announce(context_of(new), TakeArguments()).runs
    assert fake.asked == []


def test_without_a_place_of_its_own_the_server_writes_where_it_always_does(
    fake: FakeProfiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for env in ({}, {"SGLANG_TORCH_PROFILER_DIR": "traces"}, {"SGLANG_TORCH_PROFILER_DIR": "/"}):
        launcher = Process(1, 0, ("python",), env=env)
        server = Server(launcher, (), 1, "127.0.0.1")
        monkeypatch.setattr(LiveHost, "server", property(lambda _, server=server: server))
        take(fake)
        folder = Path(fake.folder)
        assert folder.parent == Path("/tmp") and not folder.exists()


@pytest.mark.parametrize(("running", "sent"), [(1, False), (0, True)])
def test_own_requests_are_sent_only_where_nothing_runs(
    running: int, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_load, "SETTLE_S", 0.2)
    monkeypatch.setattr(profile_load, "LOOK_S", 0.01)
    monkeypatch.setattr(profile_load, "TOKENS_IN", (8, 8))
    monkeypatch.setattr(profile_load, "TOKENS_OUT", (150, 200))
    with FakeServer(base_ms=3, per_request_ms=0.1) as server:
        monkeypatch.setattr(profile_load, "at_work", lambda control: bool(running))
        with profile_load.load_beside(Reached(server.url, server.endpoint), 0, 4) as said:
            busy = profile_load.Control(server.endpoint).loads().ranks[0].slot_running
        assert bool(busy) is sent
        assert said == ("under 4 requests of its own at a time" if sent else "under the requests of the server's users")


def test_a_server_at_work_is_told_from_an_idle_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_load, "LOOK_S", 0.01)
    for running, seen in ((2, True), (0, False)):
        with FakeProfiler(running=running) as fake:
            assert profile_load.at_work(context_of(fake).cache[_REACHED].control) is seen


def test_a_recording_has_nothing_to_profile() -> None:
    with pytest.raises(NotRecorded, match="only a recording"):
        TakeTraces().run(ToolContext(FakeTarget()), TakeArguments())


@pytest.mark.parametrize(
    ("sizes", "named", "count"),
    [
        ((2, 4, 1), True, 8),
        ((2, 1, 3), False, 6),
        ((2, 4, 1), False, None),
        ((None, 4, 1), True, None),
        ((1, 1, 1), None, None),
    ],
)
def test_how_many_traces_there_will_be_depends_on_how_they_are_named(
    sizes: tuple[int | None, int, int], named: bool | None, count: int | None
) -> None:
    assert profile_run.expected_traces(sizes, stages_named=named) == count
