from dataclasses import dataclass, field

import pytest

from ppagent.trials import watch
from ppagent.trials.machine import Look, Started
from ppagent.trials.watch import StartFailed, wait_until_ready

STARTED = Started(42, "/log", 100)
READY = "[2026-11-29 10:00:00] The server is fired up and ready to roll!\n"


@dataclass
class FakeMachine:
    """Shows the log piece by piece; the process is there until the pieces are used up, or for ever."""

    pieces: list[str]
    dies: bool = False
    offsets: list[int] = field(default_factory=list)

    def look(self, started: Started, offset: int) -> Look:
        self.offsets.append(offset)
        text = self.pieces.pop(0) if self.pieces else ""
        return Look(bool(self.pieces) or not self.dies, offset + len(text), text)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BETWEEN_LOOKS_S", 0.001)


def waited(machine: FakeMachine, limit_s: float = 5, answers: bool = True) -> float:
    return wait_until_ready(machine, STARTED, limit_s, lambda: answers, lambda text: None).seconds  # type: ignore[arg-type]


def test_the_log_is_read_from_where_the_new_server_begins() -> None:
    machine = FakeMachine(["loading\n", READY])
    waited(machine)
    assert machine.offsets[0] == 100


def test_a_server_that_ends_says_why() -> None:
    lines = "[2026-11-29 10:00:00 PP3] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    with pytest.raises(StartFailed, match="ended after") as caught:
        waited(FakeMachine(["loading\n", lines], dies=True))
    assert any("out of memory" in reason for reason in caught.value.reasons)


def test_a_server_that_ends_without_a_known_reason_shows_its_last_line() -> None:
    with pytest.raises(StartFailed) as caught:
        waited(FakeMachine(["something odd happened\n"], dies=True))
    assert caught.value.reasons == ("something odd happened",)


def test_a_server_that_takes_too_long_has_failed() -> None:
    with pytest.raises(StartFailed, match="not ready after"):
        waited(FakeMachine(["loading\n"]), limit_s=0.05)


def test_a_ready_line_without_an_answer_is_not_ready() -> None:
    with pytest.raises(StartFailed, match="not ready after"):
        waited(FakeMachine([READY]), limit_s=0.05, answers=False)


def test_a_server_that_logged_its_end_and_hangs_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "AFTER_FATAL_S", 0.02)
    line = "[2026-11-29 10:00:00] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    with pytest.raises(StartFailed, match="hangs"):
        waited(FakeMachine([line]))
