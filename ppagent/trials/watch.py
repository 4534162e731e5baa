"""Watches a server start, by its log: ready, or failed and why."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from ppagent.errors import ToolError
from ppagent.sglang.logs.prefix import parse_line
from ppagent.sglang.logs.trouble import find_trouble
from ppagent.trials.machine import Keeper, Started

READY = "The server is fired up and ready to roll!"
BETWEEN_LOOKS_S = 1.0
AFTER_FATAL_S = 30.0
"""A server that has logged its end and is still there after that hangs."""
MOST_REASONS = 3
GRAVE = ("fatal", "error")


class StartFailed(ToolError):
    """The server did not come up; the reasons are those its log gave."""

    def __init__(self, why: str, reasons: tuple[str, ...]) -> None:
        super().__init__(why + (f": {'; '.join(reasons)}" if reasons else ""))
        self.reasons = reasons


@dataclass(frozen=True)
class CameUp:
    """A server that is ready."""

    started: Started
    seconds: float


def wait_until_ready(
    machine: Keeper, started: Started, limit_s: float, answers: Callable[[], bool], say: Callable[[str], None]
) -> CameUp:
    """Waits for the ready line and for the first answer. Raises StartFailed when the process ends, hangs after a fatal
    line, or takes longer than `limit_s`."""
    begin = time.monotonic()
    reading = _Reading(started.offset)
    while True:
        reading.take(machine, started)
        spent = time.monotonic() - begin
        if reading.ready and answers():
            say(f"ready after {spent:.0f} s")
            return CameUp(started, spent)
        if not reading.alive:
            reading.take(machine, started)
            raise StartFailed(f"the server ended after {spent:.0f} s", reading.reasons)
        if reading.fatal_at is not None and time.monotonic() - reading.fatal_at > AFTER_FATAL_S:
            raise StartFailed("the server logged its end and hangs", reading.reasons)
        if spent > limit_s:
            raise StartFailed(f"the server was not ready after {limit_s:.0f} s", reading.reasons)
        time.sleep(BETWEEN_LOOKS_S)


class _Reading:
    """What the log has said so far."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.alive = True
        self.ready = False
        self.fatal_at: float | None = None
        self._reasons: dict[str, str] = {}
        self._last = ""

    def take(self, machine: Keeper, started: Started) -> None:
        """Looks once; a log may have more than one look holds."""
        while True:
            look = machine.look(started, self.offset)
            self.alive = look.alive
            for line in look.text.splitlines():
                self._line(line)
            if look.offset == self.offset:
                return
            self.offset = look.offset

    @property
    def reasons(self) -> tuple[str, ...]:
        """Grave lines, the most telling kinds first; the last line where none was known."""
        return tuple(self._reasons.values())[:MOST_REASONS] or ((self._last,) if self._last else ())

    def _line(self, line: str) -> None:
        message = parse_line(line).message.strip()
        if not message:
            return
        self._last = message[:200]
        self.ready = self.ready or READY in message
        trouble = find_trouble(message)
        if trouble is None or trouble.kind.harmless or trouble.kind.severity not in GRAVE:
            return
        self._reasons.setdefault(trouble.kind.id, message[:200])
        if trouble.kind.severity == "fatal" and self.fatal_at is None:
            self.fatal_at = time.monotonic()
