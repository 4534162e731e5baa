import json
import stat
from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.sessions import SessionFile, Unrecorded, is_session, new_session, read_session, sessions_folder


def written(tmp_path: Path) -> Path:
    file = SessionFile(tmp_path / "sessions" / "s1.jsonl")
    file.write("session", schema_version=1, session="s1")
    file.write("reply", text="a\nb\u2028c", usd=0.25)
    return file.path


def test_a_session_is_a_json_object_a_line_that_reads_back(tmp_path: Path) -> None:
    path = written(tmp_path)

    read = read_session(path)

    assert [json.loads(line)["kind"] for line in path.read_bytes().splitlines()] == ["session", "reply"]
    assert read.head["session"] == "s1"
    assert read.of("reply")[0]["text"] == "a\nb\u2028c" and read.of("reply")[0]["usd"] == 0.25


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_session_without_a_line_leaves_no_file(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "s1.jsonl")
    Unrecorded().write("session")

    assert not file.path.exists() and not file.begun


def test_a_session_never_writes_over_another(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_text()

    with pytest.raises(UserError, match="cannot be written"):
        SessionFile(path).write("session")
    assert path.read_text() == before


def test_a_link_that_lies_in_wait_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / "s1.jsonl").symlink_to(victim)

    with pytest.raises(UserError):
        SessionFile(tmp_path / "s1.jsonl").write("session")
    assert not victim.exists()


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"kind": "re')

    assert len(read_session(path).rows) == 1


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'{"kind": "reply"}', b'{"kind": "session"}\nnonsense\n{"kind": "end"}', b"\x80\x04\x95."]
)
def test_what_is_no_session_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)

    with pytest.raises(UserError):
        read_session(path)


def test_a_session_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"kind": "session", "schema_version": 99}\n')

    with pytest.raises(UserError, match="another version"):
        read_session(path)


def test_a_session_is_told_from_other_files_by_its_first_line(tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    bench.write_text('{"max_concurrency": 8}\n')

    assert is_session(written(tmp_path))
    assert not is_session(bench) and not is_session(tmp_path) and not is_session(tmp_path / "none.jsonl")


def test_sessions_lie_in_the_state_folder_whose_name_must_be_absolute() -> None:
    assert sessions_folder({"XDG_STATE_HOME": "/s"}) == Path("/s/ppagent/sessions")
    assert sessions_folder({"XDG_STATE_HOME": "relative"}) == Path.home() / ".local/state/ppagent/sessions"


def test_ids_of_sessions_differ_and_sort_by_time() -> None:
    first, second = new_session(), new_session()

    assert first != second and first[:6].isdigit() and first[6] == "-"
