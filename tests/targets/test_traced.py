"""Profiler traces of a recording."""

import gzip
from pathlib import Path

import pytest
from targets_samples import write_recording

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.recording import LogFile, Recording
from ppagent.targets.traced import Traced

NAME = "traces/1790857026.5-TP-0-PP-1.trace.json.gz"


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    root = write_recording(tmp_path / "case")
    (root / "hosts/alpha/traces").mkdir()
    (root / "hosts/alpha" / NAME).write_bytes(gzip.compress(b"{}"))
    (root / "hosts/alpha/traces/notes.txt").write_text("x")
    return Recording(root)


def test_a_recording_gives_its_traces_as_they_are(recording: Recording) -> None:
    assert isinstance(recording, Traced)
    assert recording.traces("alpha") == (NAME,)
    with recording.open_trace("alpha", NAME) as file:
        assert gzip.decompress(file.read()) == b"{}"


def test_a_host_without_traces_says_so(recording: Recording) -> None:
    with pytest.raises(NotRecorded, match="no profiler trace"):
        recording.traces("beta")
    with pytest.raises(NotRecorded):
        recording.open_trace("beta", NAME)


def test_a_trace_outside_of_the_recording_is_not_opened(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.trace.json.gz").write_bytes(b"")
    link = recording.root / "hosts/alpha/traces/link.trace.json.gz"
    link.symlink_to(tmp_path / "elsewhere.trace.json.gz")
    with pytest.raises(ToolError, match="leads out of"):
        recording.open_trace("alpha", "traces/link.trace.json.gz")


def test_a_folder_with_nothing_but_traces_is_a_host(tmp_path: Path) -> None:
    (tmp_path / "hosts/a/traces").mkdir(parents=True)
    assert Recording(tmp_path).hosts == ("a",)


def test_a_log_alone_holds_no_traces(tmp_path: Path) -> None:
    assert not isinstance(LogFile(tmp_path / "server.log"), Traced)
