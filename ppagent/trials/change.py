"""A live change that cannot be left behind: noted before it is made, put back whatever happens, read back each time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ppagent.bench.control import Control, Unreachable
from ppagent.errors import ToolError
from ppagent.trials.limit import LimitState, read_limit, set_limit
from ppagent.trials.note import RestoreNote, give_up, read_note, remove_note, restoring, write_note
from ppagent.trials.signals import signals_as_interrupts, signals_put_off

RESTORE_FOR_S = 60.0
BETWEEN_TRIES_S = 2.0


class NotRestored(ToolError):
    """The old value could not be put back; the note stays for the next run."""


class LiveChange:
    """One value of one server, there and back."""

    def __init__(
        self,
        control: Control,
        server: str,
        state: LimitState,
        new: int,
        folder: Path | None = None,
        target: str = "",
    ) -> None:
        """`target` is what the user named, for the command that restores."""
        self.control, self.server, self.state, self.new = control, server, state, new
        self._folder, self._target = folder, target
        self._made = False

    def make(self) -> None:
        """Writes the note, sets the new value, reads it back. Raises Refused or another ToolError."""
        note = RestoreNote(
            "live",
            self.server,
            key=self.state.key,
            old=self.state.value,
            new=self.new,
            run_mark=self.control.run_mark(),
            target=self._target,
        )
        self._made = True  # before the note, so that an interrupt between the two leaves none
        try:
            write_note(note, self._folder)
        except ToolError:
            self._made = False
            raise
        set_limit(self.control, self.state.key, self.new)

    def take_back(self, patience_s: float = RESTORE_FOR_S) -> None:
        """Sets the old value, reads it back, removes the note. Tries again while the server does not answer.

        Raises NotRestored after `patience_s`. The note stays then, as it does where it is interrupted.
        """
        if not self._made:
            return
        try:
            self._put_back(time.monotonic() + patience_s)
        except (ToolError, KeyboardInterrupt) as error:
            with suppress(ToolError):  # the note stays as it was, and is nobody's once this process has ended
                give_up(self.server, self._folder)
            if isinstance(error, KeyboardInterrupt):
                raise
            raise NotRestored(self._advice(error)) from error
        remove_note(self.server, self._folder)
        self._made = False

    def _put_back(self, until: float) -> None:
        while True:
            try:
                set_limit(self.control, self.state.key, self.state.value)
                return
            except Unreachable:
                if time.monotonic() >= until:
                    raise
            time.sleep(BETWEEN_TRIES_S)

    def _advice(self, error: ToolError) -> str:
        return (
            f"{self.state.key} could NOT be put back to {self.state.value}: {error}. "
            f"When {self.server} answers again: {restoring(self._target or self.server, self.server)}"
        )


@contextmanager
def never_left_behind(change: LiveChange) -> Iterator[LiveChange]:
    """Inside, the change may be made; on every way out it is taken back. Signals that end a process count as Ctrl-C,
    and none is listened to while the old value is put back."""
    with signals_as_interrupts():
        try:
            yield change
        finally:
            with signals_put_off():
                change.take_back()


def restore(note: RestoreNote, control: Control, folder: Path | None = None) -> str:
    """Undoes what a note tells of a live change, and says what was done. Raises ToolError, and leaves the note then."""
    if note.running:
        raise ToolError(f"a trial is still running on {note.server} (process {note.pid}): it restores by itself")
    mark = control.run_mark()
    if note.run_mark and mark and mark != note.run_mark:
        remove_note(note.server, folder)
        return f"the server was restarted since, which undid {note.key} {note.new}"
    held = set(read_limit(control).values)
    if not held <= {note.new, note.old}:
        remove_note(note.server, folder)
        told = ", ".join(map(str, sorted(held)))
        return f"{note.key} is {told} by now, which somebody else set: left as it is (it was {note.old} before)"
    changed = note.new in held
    if changed:
        set_limit(control, note.key, note.old)
    remove_note(note.server, folder)
    return f"{note.key} is back at {note.old}" + ("" if changed else " already")


def left_behind(server: str, folder: Path | None = None) -> RestoreNote | None:
    """The note that an earlier run left for this server and nobody is at work on; None where there is none."""
    note = read_note(server, folder)
    return None if note is None or note.running else note
