"""The old launch of a relaunch that died, started again by its note."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ppagent.errors import ToolError
from ppagent.trials.machine import Keeper, Machine
from ppagent.trials.note import RestoreNote
from ppagent.trials.watch import wait_until_ready

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link

Say = Callable[[str], None]
STOP_PATIENCE_S = 60.0


def keeper_in(launch: Mapping[str, object], link: "Link") -> Keeper:
    """What stops and starts the server of a note."""
    if "container" in launch:
        from ppagent.trials.container import container_in

        return container_in(launch, link)
    if "unit" not in launch:
        return Machine(link, str(launch["python"]))
    from ppagent.trials.unit import UnitMachine

    uid, log = int(str(launch["uid"])), str(launch["log"])
    return UnitMachine(link, str(launch["unit"]), bool(launch["user"]), uid, str(launch["home"]), log)


def bring_back(note: RestoreNote, machine: Keeper, answers: Callable[[], bool], limit_s: float, say: Say) -> str:
    """Starts the old launch of a note, unless the server serves already; what was done, in words."""
    if note.running:
        raise ToolError(f"a relaunch is still under way on {note.server} (process {note.pid})")
    changed = machine.changed
    if changed:
        machine.stop(0, STOP_PATIENCE_S)
    elif answers():
        return f"{note.server} serves. Its old launch is kept in {note.launch.get('folder')} of its host"
    started = machine.start(str(note.launch["folder"]), "old")
    came_up = wait_until_ready(machine, started, limit_s, answers, say)
    return f"{note.server} serves again with its old launch, process {came_up.started.pid}"
