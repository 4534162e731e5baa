"""Traces on a host: listed, fetched, taken away; nothing else is touched."""

import io
from pathlib import Path

import pytest

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.trace_files import TraceFile, TraceFolder

NAME = "1790857026.5-TP-0-PP-1.trace.json.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "of the server"
    made.mkdir()
    (made / NAME).write_bytes(bytes(range(256)) * 400)
    (made / "notes.txt").write_text("mine")
    (tmp_path / "elsewhere.trace.json.gz").write_text("x")
    (made / "link.trace.json.gz").symlink_to(tmp_path / "elsewhere.trace.json.gz")
    return made


def test_a_folder_that_is_not_there_yet_holds_nothing(link: Link, tmp_path: Path) -> None:
    assert TraceFolder(link, str(tmp_path / "later")).files() == ()


def test_traces_are_listed_with_their_sizes_and_fetched_whole(link: Link, folder: Path) -> None:
    traces = TraceFolder(link, str(folder))
    (file,) = traces.files()
    assert file == TraceFile(NAME, 102400)
    into = io.BytesIO()
    traces.fetch(file, into)
    assert into.read() == (folder / NAME).read_bytes()


@pytest.mark.parametrize("listed", [102399, 102401])
def test_a_trace_that_is_not_as_long_as_it_was_listed_is_no_answer(link: Link, folder: Path, listed: int) -> None:
    with pytest.raises(ToolError, match="cannot be fetched"):
        TraceFolder(link, str(folder)).fetch(TraceFile(NAME, listed), io.BytesIO())


def test_a_trace_that_is_gone_says_why(link: Link, folder: Path) -> None:
    with pytest.raises(ToolError, match="No such file"):
        TraceFolder(link, str(folder)).fetch(TraceFile("7-TP-0.trace.json.gz", 3), io.BytesIO())


def test_only_what_is_named_is_taken_away_and_a_folder_with_more_in_it_stays(link: Link, folder: Path) -> None:
    traces = TraceFolder(link, str(folder))
    with pytest.raises(ToolError, match="cannot be taken away"):
        traces.remove([NAME])
    assert sorted(path.name for path in folder.iterdir()) == ["link.trace.json.gz", "notes.txt"]
    traces.remove([])
    assert folder.is_dir()


def test_an_empty_folder_goes_with_its_traces(link: Link, tmp_path: Path) -> None:
    made = tmp_path / "of-the-server"
    made.mkdir()
    (made / NAME).write_bytes(b"x")
    TraceFolder(link, str(made)).remove([NAME])
    assert not made.exists() and tmp_path.is_dir()


def test_a_place_is_named_with_its_host_and_container(link: Link) -> None:
    assert TraceFolder(link, "/tmp/x").place == f"/tmp/x of {link.name}"
    assert TraceFolder(link, "/tmp/x", "0123456789abcdef").place.endswith("in container 0123456789ab")
