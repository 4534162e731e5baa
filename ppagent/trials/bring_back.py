"""The old launch of a relaunch that died, started again by its note."""

from collections.abc import Callable

from ppagent.errors import ToolError
from ppagent.trials.machine import Machine
from ppagent.trials.note import RestoreNote
from ppagent.trials.watch import wait_until_ready

Say = Callable[[str], None]


def bring_back(note: RestoreNote, machine: Machine, answers: Callable[[], bool], limit_s: float, say: Say) -> str:
    """Starts the old launch of a note, unless the server serves already; what was done, in words."""
    if note.running:
        raise ToolError(f"a relaunch is still under way on {note.server} (process {note.pid})")
    if answers():
        return f"{note.server} serves. Its old launch is kept in {note.launch.get('folder')} of its host"
    started = machine.start(str(note.launch["folder"]), "old")
    came_up = wait_until_ready(machine, started, limit_s, answers, say)
    return f"{note.server} serves again with its old launch, process {came_up.started.pid}"
