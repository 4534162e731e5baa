"""A trial that died left a note; whoever comes to that server next is told, and asked whether to put things back."""

import sys
from typing import TYPE_CHECKING

from ppagent.cli.common import note, somebody_there
from ppagent.errors import ToolError

if TYPE_CHECKING:
    from ppagent.bench.reach import Reached


def offer_restore(reached: "Reached", target: str, *, allowed: bool = False) -> bool:
    """Tells of a note and, where it is allowed or a person says yes, puts the old value back.

    True where nothing is left behind (any more). Figures of a server with a forgotten setting are figures of that
    setting, so whoever measures on says so.
    """
    from ppagent.trials.change import left_behind, restore

    try:
        left = left_behind(reached.name)
    except ToolError as error:
        note(f"{error}.")
        return False
    if left is None:
        return True
    note(f"{left.says}.")
    if left.kind == "relaunch" or not (allowed or _agreed()):
        note(f"put it back with: ppagent try {target} --restore")
        return False
    try:
        note(f"{restore(left, reached.control)}.")
    except ToolError as error:
        note(f"not put back: {error}.")
        return False
    return True


def _agreed() -> bool:
    if not somebody_there():
        return False
    sys.stderr.write("put it back now? [y]es, [n]o: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
