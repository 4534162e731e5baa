import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.bench.control import Control
from ppagent.errors import ToolError
from ppagent.trials.change import LiveChange, NotRestored, left_behind, never_left_behind, restore
from ppagent.trials.limit import Refused, read_limit
from ppagent.trials.note import RestoreNote, read_note, write_note
from tests.bench.fakes import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def change_of(server: FakeServer, new: int = 2) -> LiveChange:
    control = Control(server.endpoint, timeout_s=2)
    return LiveChange(control, server.url, read_limit(control), new)


def test_the_note_is_there_before_the_setting_is_changed(server: FakeServer) -> None:
    change = change_of(server)
    seen: list[tuple[int | None, bool]] = []
    real = server._set

    def spying(wanted: dict[str, object]) -> list[bool]:
        seen.append((server.limit, read_note(server.url) is not None))
        return real(wanted)

    server._set = spying  # type: ignore[method-assign]
    with never_left_behind(change):
        change.make()
    assert seen == [(16, True), (2, True)]
    assert (server.limit, read_note(server.url)) == (16, None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit, ToolError])
def test_whatever_happens_the_old_value_is_put_back(server: FakeServer, error: type[BaseException]) -> None:
    change = change_of(server)
    with pytest.raises(error), never_left_behind(change):
        change.make()
        assert server.limit == 2
        raise error("x")
    assert server.limit == 16
    assert read_note(server.url) is None


def test_a_signal_that_ends_the_process_puts_it_back_first(server: FakeServer) -> None:
    change = change_of(server)
    with pytest.raises(KeyboardInterrupt), never_left_behind(change):
        change.make()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
    assert server.limit == 16
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_was_never_changed_is_not_touched(server: FakeServer) -> None:
    with never_left_behind(change_of(server)):
        pass
    assert server.settings == []


def test_a_value_that_the_server_refuses_leaves_nothing_behind(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppagent.trials.limit.BETWEEN_READ_BACKS_S", 0.01)
    server.refuses, server.truthful = True, False
    change = change_of(server)
    with pytest.raises(Refused), never_left_behind(change):
        change.make()
    assert (server.limit, read_note(server.url)) == (16, None)


def test_a_server_that_is_gone_keeps_its_note_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.change.RESTORE_FOR_S", 0.0)
    with FakeServer() as server:
        change = change_of(server)
        change.make()
        server.stop()
        with pytest.raises(NotRestored, match="--restore"):
            change.take_back(patience_s=0.0)
        note = read_note(server.url)
    assert note is not None
    assert (note.old, note.new) == (16, 2)


def test_a_server_that_answers_again_in_time_is_restored(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.change.BETWEEN_TRIES_S", 0.05)
    change = change_of(server)
    change.make()
    lost = Control(change.control.endpoint.__class__("http", "127.0.0.1", 1))
    there, change.control = change.control, lost
    tries = 0

    def sleeping(seconds: float) -> None:
        nonlocal tries
        tries += 1
        if tries == 3:
            change.control = there

    monkeypatch.setattr("ppagent.trials.change.time.sleep", sleeping)
    change.take_back(patience_s=30)
    assert server.limit == 16


KILLED = """
import os, signal, sys
from ppagent.bench.control import Control
from ppagent.bench.endpoint import parse_endpoint
from ppagent.trials.change import LiveChange, never_left_behind
from ppagent.trials.limit import read_limit
control = Control(parse_endpoint(sys.argv[1]))
change = LiveChange(control, sys.argv[1], read_limit(control), 2)
with never_left_behind(change):
    change.make()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_the_next_run_finds_the_note_and_restores(server: FakeServer) -> None:
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", KILLED, server.url], cwd=root, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert server.limit == 2
    left = left_behind(server.url)
    assert left is not None
    assert "back at 16" in restore(left, Control(server.endpoint))
    assert (server.limit, left_behind(server.url)) == (16, None)


def gone(server: FakeServer, **fields: object) -> RestoreNote:
    """A note of a process that is no more."""
    known: dict[str, object] = {"key": "pp_max_micro_batch_size", "old": 16, "new": 2, "pid": 1, "pid_started": "0"}
    note = RestoreNote("live", server.url, **{**known, **fields})  # type: ignore[arg-type]
    write_note(note)
    return note


def test_a_server_restarted_since_needs_nothing(server: FakeServer) -> None:
    note = gone(server, run_mark="another run")
    assert "restarted since" in restore(note, Control(server.endpoint))
    assert server.settings == []
    assert read_note(server.url) is None


def test_a_value_that_somebody_else_set_since_is_left_alone(server: FakeServer) -> None:
    server.limit = 5
    assert "somebody else" in restore(gone(server), Control(server.endpoint))
    assert server.limit == 5


def test_an_old_value_that_is_back_already_is_only_noted(server: FakeServer) -> None:
    assert "already" in restore(gone(server), Control(server.endpoint))
    assert server.settings == []


def test_a_trial_that_still_runs_is_not_disturbed(server: FakeServer) -> None:
    server.limit = 2
    note = RestoreNote("live", server.url, key="pp_max_micro_batch_size", old=16, new=2)
    write_note(note)
    assert left_behind(server.url) is None
    with pytest.raises(ToolError, match="still running"):
        restore(note, Control(server.endpoint))
    assert server.limit == 2
