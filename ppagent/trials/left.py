"""What trials have left behind on the server of a live target, so that whoever looks at it is told first."""

from typing import TYPE_CHECKING

from ppagent.errors import PpagentError
from ppagent.targets.target import Target
from ppagent.trials.note import RestoreNote, all_notes

if TYPE_CHECKING:
    from ppagent.targets.live import LiveTarget


def left_on(target: Target, text: str) -> tuple[RestoreNote, ...]:
    """Notes of the target's server that nobody is at work on. `text` is what the user named. Costs nothing where there
    is no note at all. Raises ToolError where the notes cannot be read."""
    notes = [left for left in all_notes() if not left.running]
    if not notes or target.kind == "recording":
        return ()
    from ppagent.targets.live import LiveTarget

    if not isinstance(target, LiveTarget):
        return ()
    name = _name(target)
    hosts = tuple(f"ssh://{host}/" for host in target.name.split(","))
    return tuple(
        left
        for left in notes
        if left.server == name
        or text in (left.target, left.launch.get("target"))
        or (not name and left.server.startswith(hosts))
    )


def _name(target: "LiveTarget") -> str:
    """What the server goes by; empty where it cannot be told now: its host is what a note is known by then."""
    from ppagent.bench.reach import name_of

    try:
        return name_of(target)
    except PpagentError:
        return ""
