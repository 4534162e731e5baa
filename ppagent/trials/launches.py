"""The launch of a running server, with a change made in it: words and variables to start it with."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppagent.causes.cause import Change
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.errors import NotRecorded, UserError
from ppagent.evidence.masking import mask
from ppagent.sglang.flags.installed import InstalledFlags, installed_flags
from ppagent.sglang.flags.source import PackageFiles
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.versions import parse_version

if TYPE_CHECKING:
    from ppagent.targets.remote.servers import Server

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class NewLaunch:
    """The old and the new command, and what to start for the new one."""

    old: str
    new: str
    diff: str
    argv: tuple[str, ...]
    env: dict[str, str]


def new_launch(
    argv: Sequence[str], change: Change, version: str, source: Callable[[], PackageFiles] | None = None
) -> NewLaunch:
    """The words of a running process with `change` made in them. `source` opens the installed package, which tells its
    flags better than its version does. Raises UserError where that cannot be done, or the
    version would refuse the result."""
    text = shlex.join(argv)
    known = str(parse_version(version) or "")
    flags = _flags(source, known)
    try:
        launch = parse_launch(text, flags.catalogue if flags is not None else None)
    except NoLaunchCommand as error:
        raise UserError("The process is started by no command that ppagent can read.", "Relaunch by hand.") from error
    installed = Installed(known, flags, launch, None, (), None, "")
    made = relaunch_command(change, installed)
    if made.refused:
        why = made.refused.rstrip(".")
        raise UserError(f"{installed.words} would refuse the new launch: {why}.", "Choose another change.")
    if not made.command:
        raise UserError("The command of the process cannot be edited safely.", "Relaunch by hand.")
    env, words = _split(made.command)
    return NewLaunch(mask(text), mask(made.command), mask(made.diff), words, env)


def _flags(source: Callable[[], PackageFiles] | None, version: str) -> InstalledFlags | None:
    """None where neither the package nor its version tells the flags, which are then read by their spelling."""
    try:
        return installed_flags(source or _no_source, version)
    except UserError:
        return None


def _no_source() -> PackageFiles:
    raise NotRecorded("the installed source is not at hand")


def why_not(server: "Server") -> str:
    """Why ppagent does not relaunch this server itself, however it is run; empty where it may."""
    if server.node_rank or node_count(server.launcher.cmdline) > 1:
        return "it spans several hosts, which have to be restarted together"
    return ""


def _split(command: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Assignments in front of a command, and the command's words."""
    words = shlex.split(command)
    count = next((n for n, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    env = dict(word.split("=", 1) for word in words[:count])
    return env, tuple(words[count:])


def node_count(cmdline: Sequence[str]) -> int:
    """Over how many hosts a launch goes (`--nnodes`, 1 by default)."""
    from ppagent.targets.remote.servers import option

    text = option(cmdline, "--nnodes")
    return int(text) if text.isdigit() else 1
