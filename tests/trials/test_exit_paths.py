"""Every way out of a live trial: the old value is back and read back, or the note stays with the command that helps."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ppagent.bench.control import Control
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.cli.main import main
from ppagent.errors import ToolError
from ppagent.trials import change
from ppagent.trials.change import LiveChange, NotRestored, left_behind, restore
from ppagent.trials.limit import LimitState, read_limit, set_limit
from ppagent.trials.live import Outcome, run_live
from ppagent.trials.note import RestoreNote, read_note, write_note
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from tests.bench.fakes import FakeServer

SHAPE = Shape(concurrency=8, think_s=0.002, input_tokens=Span(8, 8), output_tokens=Span(6, 14))
WORDS = ["--set", "pp_max_micro_batch_size=2", "--yes", "3", "--seconds", "1", "--concurrency", "8", "--input-len", "8"]
WORDS += ["--output-len", "6-14", "--turnovers", "1", "--rounds", "1", "--no-forecast", "--no-answers"]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=6, per_request_ms=3) as running:
        yield running


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Ctrl-C is heard, as from a terminal: a shell starts what it runs in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def change_of(server: FakeServer, target: str = "") -> LiveChange:
    control = Control(server.endpoint, timeout_s=3)
    return LiveChange(control, server.url, read_limit(control), 2, target=target)


def tried(server: FakeServer, **options: Any) -> Outcome:
    meter = OwnLoad(server.endpoint, SHAPE, PromptSource(), turnovers=1, settle_limit_s=10)
    return run_live(change_of(server), meter, seconds=0.3, rounds=1, **options)


@pytest.mark.parametrize(
    "phase",
    ["A:", "A: settled", "no forecast", "pp_max_micro_batch_size is 2", "B:", "B: settled",
     "pp_max_micro_batch_size is back", "A again:", "A again: settled"],
)  # fmt: skip
def test_an_interrupt_in_any_phase_leaves_the_old_value_and_no_note(server: FakeServer, phase: str) -> None:
    came: list[str] = []

    def say(sentence: str) -> None:
        if sentence.startswith(phase):
            came.append(sentence)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        tried(server, say=say, foresee=lambda first: (None, "not asked for"))
    assert came
    assert (server.limit, read_note(server.url)) == (16, None)


def test_an_interrupt_while_a_server_that_hangs_owes_answers_does_not_wait_for_them(server: FakeServer) -> None:
    real = server._set

    def hanging(wanted: dict[str, Any]) -> list[bool]:
        if not server.settings:
            server.base_ms = 120_000.0
            threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        return real(wanted)

    server._set = hanging  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        tried(server, check=OutputCheck(Control(server.endpoint), tokens=4))
    since = time.monotonic()
    assert (server.limit, read_note(server.url)) == (16, None)
    assert not [each for each in threading.enumerate() if each.name == "answer" and not each.daemon]
    assert time.monotonic() - since < 5


def test_a_second_interrupt_leaves_a_note_that_the_same_process_finds_again(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = change_of(server)
    trial.make()
    monkeypatch.setattr(change, "set_limit", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        trial.take_back()
    left = left_behind(server.url)
    assert left is not None
    assert (left.old, left.new, left.running) == (16, 2, False)


def test_the_command_line_says_what_puts_back_what_a_second_interrupt_left(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[int] = []

    def second(control: Control, key: str, value: int) -> None:
        calls.append(value)
        if len(calls) > 1:
            raise KeyboardInterrupt
        set_limit(control, key, value)

    monkeypatch.setattr(change, "set_limit", second)
    assert main(["try", server.url, *WORDS]) == 130
    told = capsys.readouterr().err
    assert "was set from 16 to 2" in told
    assert f"Put it back with: ppagent try {server.url} --restore" in told
    monkeypatch.setattr(change, "set_limit", set_limit)
    assert main(["try", server.url, "--restore"]) == 0
    assert (server.limit, read_note(server.url)) == (16, None)


def test_what_was_cancelled_is_told_with_the_value_that_the_server_has(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cancelled(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ppagent.cli.try_live._carry_out", cancelled)
    assert main(["try", server.url, *WORDS]) == 130
    assert "cancelled; pp_max_micro_batch_size is at 16." in capsys.readouterr().err


def test_a_cancelled_trial_whose_server_is_gone_is_cancelled_all_the_same(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(_: Control) -> LimitState:
        raise ToolError("the server gave no answer")

    def gone(*_: object) -> None:
        monkeypatch.setattr("ppagent.cli.try_live.read_limit", silent)
        raise KeyboardInterrupt

    monkeypatch.setattr("ppagent.cli.try_live._carry_out", gone)
    assert main(["try", server.url, *WORDS]) == 130
    assert "cancelled; nothing is left changed, but the server gave no answer" in capsys.readouterr().err


def test_a_server_that_a_proxy_cannot_reach_for_a_while_is_waited_for(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "BETWEEN_TRIES_S", 0.05)
    trial = change_of(server)
    trial.make()
    real, refused = server._static, iter([503, 502, 504])

    def starting(path: str, body: bytes) -> tuple[int, str]:
        status = next(refused, 200)
        return real(path, body) if status == 200 else (status, "no upstream")

    server._static = starting  # type: ignore[method-assign]
    trial.take_back(patience_s=10)
    assert (server.limit, read_note(server.url)) == (16, None)


def test_a_server_that_stays_away_leaves_its_note_and_the_whole_command() -> None:
    with FakeServer() as server:
        trial = change_of(server, target="ssh://me@box")
        trial.make()
        server.stop()
        with pytest.raises(NotRestored, match=rf"ppagent try ssh://me@box --port {server.port} --restore"):
            trial.take_back(patience_s=0.0)
        left = left_behind(server.url)
    assert left is not None
    assert left.command == f"ppagent try ssh://me@box --port {server.port} --restore"


def test_where_the_note_cannot_be_marked_either_the_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        trial = change_of(server)
        trial.make()
        server.stop()
        monkeypatch.setattr("ppagent.trials.note.write_note", _full)
        with pytest.raises(NotRestored, match="--restore"):
            trial.take_back(patience_s=0.0)
        assert read_note(server.url) is not None


def test_without_a_note_nothing_is_changed(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "write_note", _full)
    with pytest.raises(ToolError, match="disk is full"):
        tried(server)
    assert server.settings == []
    assert server.limit == 16


def test_an_interrupt_between_the_note_and_the_change_leaves_no_note(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(note: RestoreNote, folder: None) -> None:
        write_note(note, folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(change, "write_note", noted)
    with pytest.raises(KeyboardInterrupt):
        tried(server)
    assert (server.limit, read_note(server.url)) == (16, None)


def test_ranks_that_differ_after_a_crash_are_all_put_back(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.limit = 2
    note = RestoreNote("live", server.url, key="pp_max_micro_batch_size", old=16, new=2, pid=1, pid_started="0")
    write_note(note)
    control = Control(server.endpoint)
    told: LimitState = replace(read_limit(control), values=(16, 2))
    monkeypatch.setattr(change, "read_limit", lambda _: told)
    assert restore(note, control) == "pp_max_micro_batch_size is back at 16"
    assert server.limit == 16


def _interrupted(control: Control, key: str, value: int) -> None:
    raise KeyboardInterrupt


def _full(*_: object) -> None:
    raise ToolError("the restore note cannot be written: the disk is full")
