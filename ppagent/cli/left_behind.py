"""A trial that died left a note; whoever comes to that server next is told, and asked whether to put things back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ppagent.cli.common import note, somebody_there
from ppagent.errors import PpagentError, ToolError
from ppagent.trials.note import restoring

if TYPE_CHECKING:
    from ppagent.bench.reach import Reached
    from ppagent.targets.target import Target


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
        note(f"put it back with: {restoring(target, left.server)}")
        return False
    try:
        note(f"{restore(left, reached.control)}.")
    except ToolError as error:
        note(f"not put back: {error}.")
        return False
    return True


@contextmanager
def telling_what_died(text: str) -> Iterator[None]:
    """While a server is looked for: where it is not found and a relaunch of it died, that is said before the error."""
    from ppagent.trials.note import all_notes

    try:
        yield
    except PpagentError:
        for left in all_notes():
            if left.kind == "relaunch" and left.launch.get("target") == text and not left.running:
                note(f"{left.says}. Put it back with: {left.command}")
        raise


def remind(target: "Target", text: str) -> None:
    """Before a live server is diagnosed: tells of what a trial left behind on it. Costs nothing where there is no note
    at all."""
    from ppagent.trials.left import left_on

    try:
        for left in left_on(target, text):
            note(f"{left.says}. Put it back with: {restoring(text, left.server)}")
    except ToolError as error:
        note(f"{error}.")


def _agreed() -> bool:
    if not somebody_there():
        return False
    sys.stderr.write("put it back now? [y]es, [n]o: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
