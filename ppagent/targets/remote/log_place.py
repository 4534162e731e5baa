"""Where a server's log goes: a file it writes to, or a program that keeps it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.pods import Pod
from ppagent.targets.remote.servers import Server, option

_TERMINAL = re.compile(r"/dev/(?:pts/|tty|console)")


@dataclass(frozen=True)
class LogPlace:
    """How a log is read: `file` by path, `journal` by unit and start, `docker` and `podman` by container, `pod` by its
    container's id."""

    kind: str
    name: str
    shown: str
    """The place as a person would name it."""
    since_s: int = 0
    """For a journal: when the server was started, in seconds since the host was, which stays true until it is read."""
    more: tuple[str, ...] = ()
    """For a journal the field that holds the unit, and whether that the log goes there is a guess; for a pod the log on
    its node, namespace, pod and container, as far as they are known."""

    @property
    def by_hand(self) -> str:
        """A command that gives it to somebody who may."""
        if self.kind == "pod":
            return self.shown
        return f"sudo cat {shlex.quote(self.shown)}" if self.kind == "file" else f"sudo {self.shown}"


def log_place(server: Server, others: Mapping[int, Mapping[int, str]], who: str, pod: Pod | None = None) -> LogPlace:
    """The place of a server's log. Raises NotRecorded where it is kept nowhere, ToolError where `who` may not see.

    SGLang logs to standard error (`configure_logger` of `srt/utils`, all versions). `others`: what the first file
    descriptors of every process lead to; it tells the file behind `2>&1 | tee server.log`. `pod`: the server's own.
    """
    launcher = server.launcher
    if named := option(launcher.cmdline, "--log-file"):
        path = named if named.startswith("/") else f"{launcher.cwd}/{named}"
        return LogPlace("file", path, path)
    found = [place for number in (2, 1) if (place := _file_behind(launcher.pid, number, launcher.outputs, others))]
    if found:
        return found[0]
    return _kept_elsewhere(server, who, pod)


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


def _kept_elsewhere(server: Server, who: str, pod: Pod | None) -> LogPlace:
    launcher = server.launcher
    to = launcher.outputs.get(2, "")
    if pod is not None and (server.container or to.startswith("pipe:") or not launcher.outputs):
        return LogPlace("pod", server.container, pod.command, more=(pod.log, pod.namespace, pod.name, pod.container))
    if server.container:
        keeper = server.enter[0] if server.enter[0] in ("docker", "podman") else "docker"
        return LogPlace(keeper, server.container, f"{keeper} logs {server.container[:12]}")
    if server.unit and (to.startswith("socket:") or not launcher.outputs):
        return _journal(server)
    if not launcher.outputs:
        raise ToolError(
            f"{who} may not see where process {launcher.pid} of {launcher.user or 'another user'} writes its log; "
            f"`sudo ls -l /proc/{launcher.pid}/fd/2` would tell"
        )
    if _TERMINAL.match(to):
        raise NotRecorded(
            f"the server logs to a terminal ({to}), which keeps nothing but what it shows (in tmux `tmux capture-pane "
            "-p -S -` would give that); start it with `2>&1 | tee FILE`"
        )
    if to == "/dev/null":
        raise NotRecorded("the server's log goes to /dev/null; start it with `>FILE 2>&1`")
    raise ToolError(f"the server's log goes to {to}, whose reader cannot be seen by {who}")


def _journal(server: Server) -> LogPlace:
    """A unit of a person's own manager stands in another field than one of the system's (systemd.journal-fields(7))."""
    own = "/user@" in server.launcher.groups
    field, shown = ("_SYSTEMD_USER_UNIT", "--user-unit") if own else ("_SYSTEMD_UNIT", "-u")
    since_s = int(server.launcher.started_s or 0)
    more = (field,) if server.launcher.outputs else (field, "hidden")
    return LogPlace("journal", server.unit, f"journalctl {shown} {shlex.quote(server.unit)}", since_s, more)


def _is_file(to: str) -> bool:
    return to.startswith("/") and not to.startswith("/dev/")
