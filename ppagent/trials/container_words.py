"""The server's words inside the command of its container, exchanged for others; what stands around them stays.

A container's command is its entrypoint and its arguments in one list. The server is the end of it, or all of it: as
words, as a script whose interpreter the kernel put in front, or as one word for a shell.
"""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

_SHELLS = ("sh", "bash", "dash")


def exchanged(command: Sequence[str], running: Sequence[str], new: Sequence[str]) -> tuple[str, ...] | None:
    """`command` with `running`, the words of the server's process, exchanged for `new`; None where they are not in it
    word for word, so that the one does not change with the other."""
    before = len(command) - len(running)
    if running and before >= 0 and tuple(command[before:]) == tuple(running):
        return (*command[:before], *new)
    return _as_script(command, running, new) or _in_shell(command, running, new)


def _as_script(command: Sequence[str], running: Sequence[str], new: Sequence[str]) -> tuple[str, ...] | None:
    """`sglang serve ...` runs as `python /usr/local/bin/sglang serve ...`."""
    rest = len(running) - 2
    at = len(command) - rest - 1
    if rest < 1 or at < 0 or tuple(running[:2]) != tuple(new[:2]) or running[1].startswith("-"):
        return None
    same = tuple(command[at + 1 :]) == tuple(running[2:])
    script = PurePosixPath(running[1])
    if not same or command[at] not in (str(script), script.name):
        return None
    return (*command[: at + 1], *new[2:])


def _in_shell(command: Sequence[str], running: Sequence[str], new: Sequence[str]) -> tuple[str, ...] | None:
    """`bash -c "python -m ..."`: only where the shell is told that one command and nothing else."""
    if len(command) < 3 or PurePosixPath(command[-3]).name not in _SHELLS or command[-2] not in ("-c", "-lc"):
        return None
    try:
        words = shlex.split(command[-1])
    except ValueError:
        return None
    begins = ["exec"] if words[:1] == ["exec"] else []
    if words[len(begins) :] != list(running):
        return None
    return (*command[:-1], shlex.join([*begins, *new]))
