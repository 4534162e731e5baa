"""A copy must not take the place of what it copies."""

from pathlib import Path

from ppagent.errors import UserError
from ppagent.targets.recording import LogFile, Recording
from ppagent.targets.target import Target


def must_lie_apart(target: Target, output: Path) -> None:
    """Raises UserError where a recording written to `output` would overlap the recording or the log that it is of."""
    match target:
        case Recording():
            one = target.root.resolve()
        case LogFile():
            one = target.path.resolve()
        case _:
            return
    other = output.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise UserError(f"{output} and {one} overlap.", "Name a folder elsewhere for the copy.")
