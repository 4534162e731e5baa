from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.targets.live import LiveTarget
from ppagent.trials.left import left_on
from ppagent.trials.note import RestoreNote, write_note
from tests.agent.fakes import FakeTarget

NOTE = RestoreNote("live", "ssh://box/30000", key="pp_max_micro_batch_size", old=256, new=1, pid_started="")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for notes of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def target(*hosts: str) -> LiveTarget:
    """Hosts that cannot be reached now, as after a cut connection."""
    return LiveTarget({host: UserError("gone", "wait") for host in hosts}, "ssh")


def test_a_note_of_the_same_host_is_found_while_its_server_cannot_be_told() -> None:
    write_note(NOTE)

    assert left_on(target("box"), "ssh://box") == (NOTE,)
    assert left_on(target("other"), "ssh://other") == ()


def test_without_notes_and_for_a_recording_nothing_is_left() -> None:
    assert left_on(target("box"), "ssh://box") == ()
    write_note(NOTE)
    assert left_on(FakeTarget("recording"), "ssh://box") == ()
