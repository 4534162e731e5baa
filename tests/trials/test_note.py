import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppagent.errors import ToolError
from ppagent.trials.note import (
    RestoreNote,
    all_notes,
    give_up,
    note_path,
    read_note,
    remove_note,
    restoring,
    write_note,
)

SERVER = "http://127.0.0.1:30000"


def test_a_note_is_read_as_it_was_written_and_gone_once_removed(data: Path) -> None:
    note = RestoreNote("live", SERVER, key="pp_max_micro_batch_size", old=512, new=2)
    path = write_note(note)
    assert path.is_relative_to(data)
    assert read_note(SERVER) == note
    assert all_notes() == (note,)
    remove_note(SERVER)
    assert read_note(SERVER) is None
    assert all_notes() == ()


def test_only_its_owner_can_read_a_note() -> None:
    path = write_note(RestoreNote("live", SERVER))
    assert path.stat().st_mode & 0o077 == 0


def test_notes_of_different_servers_do_not_meet() -> None:
    write_note(RestoreNote("live", SERVER, old=1))
    write_note(RestoreNote("live", "http://other:1", old=2))
    first = read_note(SERVER)
    assert first is not None
    assert first.old == 1


def test_the_note_of_a_process_that_runs_is_at_work_and_of_one_that_ended_is_left_behind() -> None:
    assert RestoreNote("live", SERVER).running
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not RestoreNote("live", SERVER, pid=ended.pid, pid_started="1").running


def test_of_two_at_once_on_one_server_the_second_changes_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        started = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        first = RestoreNote("live", SERVER, old=512, new=2, pid=other.pid, pid_started=started)
        write_note(first)
        with pytest.raises(ToolError, match=rf"another ppagent \(process {other.pid}\) is at work"):
            write_note(RestoreNote("relaunch", SERVER))
        assert read_note(SERVER) == first
        write_note(RestoreNote("live", "http://127.0.0.1:30001"))
        other.communicate(b"\n")
    write_note(RestoreNote("relaunch", SERVER))
    assert read_note(SERVER) != first


def test_another_process_under_the_same_number_is_not_the_one_that_wrote_it() -> None:
    assert not RestoreNote("live", SERVER, pid=os.getpid(), pid_started="1").running


def test_a_note_of_another_machine_is_not_running_here() -> None:
    assert not RestoreNote("live", SERVER, machine="elsewhere").running


def test_a_broken_note_is_an_error_and_not_no_note() -> None:
    path = note_path(SERVER)
    path.parent.mkdir(parents=True)
    path.write_text("{half")
    with pytest.raises(ToolError, match="cannot be read"):
        read_note(SERVER)


def test_without_a_place_for_the_note_nothing_may_be_changed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot be written"):
        write_note(RestoreNote("live", SERVER), tmp_path / "file")


def test_a_note_is_plain_json(data: Path) -> None:
    path = write_note(RestoreNote("relaunch", SERVER, launch={"folder": "/x", "python": "/usr/bin/python3"}))
    assert json.loads(path.read_text())["launch"]["folder"] == "/x"


def test_a_note_that_its_process_gave_up_on_is_the_next_ones_to_restore(tmp_path: Path) -> None:
    note = RestoreNote("live", SERVER, key="pp_max_micro_batch_size", old=16, new=2)
    write_note(note, tmp_path)
    give_up(SERVER, tmp_path)
    left = read_note(SERVER, tmp_path)
    assert left is not None
    assert (left.old, left.new, left.running) == (16, 2, False)
    give_up("http://elsewhere", tmp_path)


@pytest.mark.parametrize(
    ("target", "server", "command"),
    [
        ("local", "http://127.0.0.1:30000", "ppagent try local --port 30000 --restore"),
        ("ssh://me@box", "ssh://box/30001", "ppagent try ssh://me@box --port 30001 --restore"),
        ("http://127.0.0.1:30000", "http://127.0.0.1:30000", "ppagent try http://127.0.0.1:30000 --restore"),
        ("local", "http://127.0.0.1:30000/behind", "ppagent try local --restore"),
        ("ssh://box/30001", "ssh://box/30001", "ppagent try ssh://box --port 30001 --restore"),
    ],
)
def test_the_command_that_restores_names_the_server(target: str, server: str, command: str) -> None:
    assert restoring(target, server) == command


def test_a_note_tells_its_own_command_by_what_the_user_named_or_by_the_server() -> None:
    assert RestoreNote("live", "ssh://box/30001").command == "ppagent try ssh://box --port 30001 --restore"
    named = RestoreNote("live", "ssh://box/30001", target="ssh://me@box")
    assert named.command == "ppagent try ssh://me@box --port 30001 --restore"
    relaunch = RestoreNote("relaunch", "ssh://box/30001", launch={"target": "ssh://me@box"})
    assert relaunch.command == "ppagent try ssh://me@box --restore"
