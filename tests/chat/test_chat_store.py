import json
import os
import stat
from pathlib import Path

import pytest

from ppagent.chat.home import state_home
from ppagent.chat.store import ChatFile, conversations, newest_about, open_saved, session_path
from ppagent.errors import UserError

HEAD = {"schema_version": 1, "session": "s1", "chat": "/recordings/a"}


def kept(session_id: str = "s1", **rows: str) -> ChatFile:
    file = ChatFile(session_path(session_id))
    file.write("session", **{**HEAD, "session": session_id})
    for who, text in rows.items():
        file.write("said", who=who, text=text)
    return file


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_line_is_on_the_disk_when_write_returns_and_only_the_owner_can_read_it(state: Path) -> None:
    file = kept(user="why?")

    lines = file.path.read_text().splitlines()
    assert json.loads(lines[1])["text"] == "why?"
    assert file.path == state / "sessions" / "s1.jsonl"
    assert mode_of(file.path) == 0o600
    assert mode_of(state) == mode_of(state / "sessions") == 0o700


def test_a_file_is_held_by_one_session_at_a_time() -> None:
    file = kept()

    with pytest.raises(UserError, match="open elsewhere"):
        ChatFile(file.path)

    file.close()
    ChatFile(file.path).close()


def test_a_line_that_a_kill_cut_off_is_dropped_when_the_session_goes_on() -> None:
    kept(user="why?").close()
    path = session_path("s1")
    with path.open("a") as file:
        file.write('{"kind": "tool", "evid')

    again = ChatFile(path)
    again.write("said", who="user", text="go on")

    assert [row["kind"] for row in map(json.loads, path.read_text().splitlines())] == ["session", "said", "said"]
    assert [row["text"] for row in open_saved("s1").of("said")] == ["why?", "go on"]


def test_conversations_are_listed_newest_first_and_diagnoses_are_none() -> None:
    kept("s1", user="why?").close()
    kept("s2").close()
    plain = ChatFile(session_path("s3"))
    plain.write("session", schema_version=1, session="s3")
    plain.close()
    session_path("s4").write_text("not a session\n")

    assert [(one.id, one.target, one.question) for one in conversations()] == [
        ("s2", "/recordings/a", ""),
        ("s1", "/recordings/a", "why?"),
    ]
    assert open_saved("").head["session"] == "s2"


@pytest.mark.parametrize(
    ("session_id", "says"),
    [("s9", "There is no session s9"), ("../../etc/passwd", "is no session's id"), ("s3", "is a diagnosis")],
)
def test_what_is_no_session_is_said_in_words(session_id: str, says: str) -> None:
    kept("s1").close()
    plain = ChatFile(session_path("s3"))
    plain.write("session", schema_version=1, session="s3")
    plain.close()

    with pytest.raises(UserError, match=says):
        open_saved(session_id)


def test_without_any_session_there_is_none_to_resume() -> None:
    with pytest.raises(UserError, match="No session was kept yet"):
        open_saved("")


def test_the_newest_session_about_a_target_is_found_by_its_name() -> None:
    for session_id, target in (("s1", "ssh://box"), ("s2", "ssh://box"), ("s3", "ssh://other")):
        file = ChatFile(session_path(session_id))
        file.write("session", **{**HEAD, "session": session_id, "chat": target})
        file.close()

    assert newest_about("ssh://box") == "s2"
    with pytest.raises(UserError, match=r"No session about ssh://third was kept. Begin one: ppagent chat ssh://third"):
        newest_about("ssh://third")


def test_a_state_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UserError, match="XDG_STATE_HOME"):
        state_home({"XDG_STATE_HOME": str(tmp_path / "file")})


def test_a_relative_state_folder_counts_as_unset(tmp_path: Path) -> None:
    assert state_home({"XDG_STATE_HOME": "here", "HOME": str(tmp_path)}) == tmp_path / ".local" / "state" / "ppagent"
    assert os.path.isdir(tmp_path / ".local" / "state" / "ppagent")  # noqa: PTH112
