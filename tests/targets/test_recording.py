import gzip
from pathlib import Path

import pytest
from targets_samples import DECODE, write_recording

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.recording import LogFile, Recording
from ppagent.targets.target import Artifact, Shared, Target


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(write_recording(tmp_path / "case"))


def test_a_recording_is_a_target(recording: Recording) -> None:
    assert isinstance(recording, Target)
    assert (recording.kind, recording.name) == ("recording", "case")


def test_the_host_of_node_rank_zero_comes_first(recording: Recording) -> None:
    assert recording.hosts == ("beta", "alpha")


def test_without_launch_commands_the_log_with_the_first_stage_comes_first(recording: Recording) -> None:
    for host in ("alpha", "beta"):
        (recording.root / "hosts" / host / "launch.txt").unlink()
    assert recording.hosts == ("beta", "alpha")


def test_hosts_that_tell_nothing_are_ordered_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / "hosts" / name).mkdir(parents=True)
        (tmp_path / "hosts" / name / "gpus.csv").write_text("index\n0\n")
    assert Recording(tmp_path).hosts == ("a", "b")


def test_bare_artifacts_in_a_folder_are_a_recording_of_one_host(recording: Recording) -> None:
    bare = Recording(recording.root / "hosts" / "alpha")
    assert bare.hosts == ("alpha",)
    assert "--node-rank 1" in bare.text("alpha", Artifact.LAUNCH)


def test_what_is_not_there_was_not_recorded(recording: Recording) -> None:
    with pytest.raises(NotRecorded, match="gpus.csv"):
        recording.text("beta", Artifact.GPUS)
    with pytest.raises(NotRecorded, match="source"):
        recording.source("alpha")
    (recording.root / "bench.jsonl").unlink()
    with pytest.raises(NotRecorded, match="bench.jsonl"):
        recording.shared(Shared.BENCH)


def test_scrapes_come_in_the_order_of_their_numbers(recording: Recording) -> None:
    assert [name for name, _ in recording.scrapes("beta")] == ["metrics/1.prom", "metrics/2.prom", "metrics/10.prom"]


def test_the_log_is_streamed_as_bytes_line_by_line(recording: Recording) -> None:
    lines = list(recording.log("beta"))
    assert lines[0] == (DECODE.format(s=0, pp=0) + "\n").encode()
    assert len(lines) == 3
    assert recording.text("beta", Artifact.SERVER_LOG).encode() == b"".join(lines)


def test_a_gzipped_log_is_read_where_there_is_no_plain_one(recording: Recording) -> None:
    log = recording.root / "hosts" / "beta" / "server.log"
    plain = log.read_bytes()
    log.with_name("server.log.gz").write_bytes(gzip.compress(plain))
    log.unlink()
    assert b"".join(recording.log("beta")) == plain


def test_a_gzipped_log_that_ends_early_is_a_tool_error_after_its_last_line(recording: Recording) -> None:
    log = recording.root / "hosts" / "beta" / "server.log"
    packed = gzip.compress(log.read_bytes() * 500)
    log.with_name("server.log.gz").write_bytes(packed[: len(packed) // 2])
    log.unlink()
    with pytest.raises(ToolError, match="server.log.gz"):
        list(recording.log("beta"))


def test_undecodable_bytes_are_replaced(recording: Recording) -> None:
    (recording.root / "hosts" / "beta" / "host.json").write_bytes(b'{"kernel": "\xff"}')
    assert recording.text("beta", Artifact.HOST) == '{"kernel": "\ufffd"}'


def test_a_link_out_of_the_recording_is_not_followed(recording: Recording, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read")
    (recording.root / "hosts" / "beta" / "environment.txt").symlink_to(secret)
    with pytest.raises(ToolError, match="leads out of case"):
        recording.text("beta", Artifact.ENVIRONMENT)
    (recording.root / "hosts" / "gamma").symlink_to(tmp_path)
    (tmp_path / "launch.txt").write_text("x")
    with pytest.raises(ToolError, match="leads out of case"):
        Recording(recording.root).text("gamma", Artifact.LAUNCH)


def test_a_log_that_links_out_of_the_recording_is_not_followed(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "other.log").write_text("x\n")
    log = recording.root / "hosts" / "beta" / "server.log"
    log.unlink()
    log.symlink_to(tmp_path / "other.log")
    with pytest.raises(ToolError, match="leads out of case"):
        recording.log("beta")


def test_a_host_that_is_not_one_of_the_recording_is_a_tool_error(recording: Recording) -> None:
    with pytest.raises(ToolError, match="no host"):
        recording.text("../..", Artifact.LAUNCH)


def test_a_folder_in_an_artifacts_place_is_a_tool_error(recording: Recording) -> None:
    (recording.root / "hosts" / "beta" / "loads.json").mkdir()
    with pytest.raises(ToolError, match="not a file"):
        recording.text("beta", Artifact.LOADS)


def test_the_answer_is_never_opened(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    (recording.root / "relaunches.jsonl").write_text("{}\n")
    opened: list[str] = []
    real = Path.open
    read = Path.read_bytes
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: (opened.append(self.name), real(self, *a, **k))[1])
    monkeypatch.setattr(Path, "read_bytes", lambda self: (opened.append(self.name), read(self))[1])
    for host in recording.hosts:
        for artifact in Artifact:
            try:
                recording.text(host, artifact)
            except NotRecorded:
                continue
        list(recording.log(host))
        recording.scrapes(host)
    for shared in Shared:
        recording.shared(shared)
    assert "server.log" in opened
    assert "incident.yaml" in opened
    assert "answer.yaml" not in opened


def test_a_log_file_alone_has_a_log_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "whatever.txt"
    path.write_text(DECODE.format(s=0, pp=0) + "\n")
    path.with_name("whatever.txt.answer.yaml").write_text("question: Why?\n")
    target = LogFile(path)
    assert isinstance(target, Target)
    assert target.name == "whatever.txt"
    assert len(list(target.log("server"))) == 1
    with pytest.raises(NotRecorded, match="only a log"):
        target.shared(Shared.INCIDENT)
    with pytest.raises(NotRecorded, match="only a log"):
        target.text("server", Artifact.LAUNCH)
