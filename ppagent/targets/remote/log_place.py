"""Where a server's log goes: a file it writes to, or a program that keeps it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.servers import Server, option

_TERMINAL = re.compile(r"/dev/(?:pts/|tty|console)")


@dataclass(frozen=True)
class LogPlace:
    """How a log is read: `file` by path, `journal` by unit and age, `docker` by container."""

    kind: str
    name: str
    shown: str
    """The place as a person would name it."""
    since_s: int = 0
    """For a journal: how many seconds ago the server was started."""


def log_place(server: Server, others: Mapping[int, Mapping[int, str]], who: str) -> LogPlace:
    """The place of a server's log. Raises NotRecorded where it is kept nowhere, ToolError where `who` may not see.

    SGLang logs to standard error (`configure_logger` of `srt/utils`, all versions). `others`: what the first file
    descriptors of every process lead to; it tells the file behind `2>&1 | tee server.log`.
    """
    launcher = server.launcher
    if named := option(launcher.cmdline, "--log-file"):
        path = named if named.startswith("/") else f"{launcher.cwd}/{named}"
        return LogPlace("file", path, path)
    found = [place for number in (2, 1) if (place := _file_behind(launcher.pid, number, launcher.outputs, others))]
    if found:
        return found[0]
    return _kept_elsewhere(server, who)


def _file_behind(
    pid: int, number: int, outputs: Mapping[int, str], others: Mapping[int, Mapping[int, str]]
) -> LogPlace | None:
    to = outputs.get(number, "")
    if _is_file(to):
        return LogPlace("file", f"/proc/{pid}/fd/{number}", to)
    if not to.startswith("pipe:"):
        return None
    for reader, held in others.items():
        if held.get(0) == to and reader != pid:
            files = [(n, held[n]) for n in (3, 1) if _is_file(held.get(n, ""))]
            if files:
                return LogPlace("file", f"/proc/{reader}/fd/{files[0][0]}", files[0][1])
    return None


def _kept_elsewhere(server: Server, who: str) -> LogPlace:
    launcher = server.launcher
    if server.container:
        return LogPlace("docker", server.container, f"docker logs {server.container[:12]}")
    to = launcher.outputs.get(2, "")
    if server.unit and (to.startswith("socket:") or not launcher.outputs):
        age_s = int(launcher.age_s or 0)
        return LogPlace("journal", server.unit, f"journalctl -u {server.unit}", age_s + 5 if age_s else 0)
    if not launcher.outputs:
        raise ToolError(
            f"{who} may not see where process {launcher.pid} of {launcher.user or 'another user'} writes its log; "
            f"`sudo ls -l /proc/{launcher.pid}/fd/2` would tell"
        )
    if _TERMINAL.match(to):
        raise NotRecorded(f"the server logs to a terminal ({to}), which keeps nothing; start it with `2>&1 | tee FILE`")
    if to == "/dev/null":
        raise NotRecorded("the server's log goes to /dev/null; start it with `>FILE 2>&1`")
    raise ToolError(f"the server's log goes to {to}, whose reader cannot be seen by {who}")


def _is_file(to: str) -> bool:
    return to.startswith("/") and not to.startswith("/dev/")
