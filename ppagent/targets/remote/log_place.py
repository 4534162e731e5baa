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
    enter: tuple[str, ...] = ()
    """What goes before a command where it is read in its container."""

    @property
    def by_hand(self) -> str:
        """A command that gives it to somebody who may."""
        if self.kind == "pod":
            return self.shown
        if self.enter:
            return f"sudo {self.enter[0]} exec {self.enter[-1][:12]} cat {shlex.quote(self.shown)}"
        return f"sudo cat {shlex.quote(self.shown)}" if self.kind == "file" else f"sudo {self.shown}"


def log_place(server: Server, others: Mapping[int, Mapping[int, str]], who: str, pod: Pod | None = None) -> LogPlace:
    """The place of a server's log. Raises NotRecorded where it is kept nowhere, ToolError where `who` may not see.

    SGLang logs to standard error (`configure_logger` of `srt/utils`, all versions). `others`: what the first file
    descriptors of every process lead to; it tells the file behind `2>&1 | tee server.log`. `pod`: the server's own.
    """
    launcher = server.launcher
    if named := option(launcher.cmdline, "--log-file"):
        path = named if named.startswith("/") else f"{launcher.cwd}/{named}"
        return _in_container(server, path) if server.container else LogPlace("file", path, path)
    if launcher.contained.within and _is_file(launcher.outputs.get(2, "")):
        return _in_container(server, launcher.outputs[2])
    found = [place for number in (2, 1) if (place := _file_behind(launcher.pid, number, launcher.outputs, others))]
    if found:
        return found[0]
    return _kept_elsewhere(server, others, who, pod)


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


def _in_container(server: Server, path: str) -> LogPlace:
    """A file of the container: by way of its process for whoever may, else by its engine."""
    launcher = server.launcher
    if launcher.contained.within:
        return LogPlace("file", path, path, enter=server.enter)
    return LogPlace("file", f"/proc/{launcher.pid}/root{path}", path)


def _has_own_output(server: Server, others: Mapping[int, Mapping[int, str]]) -> bool:
    """Whether what a server writes in its container goes elsewhere than what the container was started with writes,
    whose log alone an engine keeps. A pipe is taken to end there."""
    contained, to = server.launcher.contained, server.launcher.outputs.get(2, "")
    if contained.entered or to.startswith("pipe:"):
        return contained.entered
    kept = [others.get(contained.first or 0, {}).get(number, "") for number in (1, 2)]
    return bool(to) and any(kept) and to not in kept


def _by_engine(server: Server) -> LogPlace:
    keeper, short = server.engine or "docker", server.container[:12]
    if server.keeps_for_another:
        as_owner = "sudo" if server.keeps_for_another == "root" else f"sudo -iu {server.keeps_for_another}"
        raise ToolError(f"{server.kept_by}; `{as_owner} podman logs {short}` would give its log")
    return LogPlace(keeper, server.container, f"{keeper} logs {short}")


def _kept_elsewhere(server: Server, others: Mapping[int, Mapping[int, str]], who: str, pod: Pod | None) -> LogPlace:
    launcher = server.launcher
    to = launcher.outputs.get(2, "")
    if pod is not None and (server.container or to.startswith("pipe:") or not launcher.outputs):
        return LogPlace("pod", server.container, pod.command, more=(pod.log, pod.namespace, pod.name, pod.container))
    if server.container and not _has_own_output(server, others):
        return _by_engine(server)
    if server.container and launcher.contained.entered:
        raise NotRecorded(_of_another(server, to))
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


def _of_another(server: Server, to: str) -> str:
    """Why an engine has no log of a server that was started in a container that ran already."""
    keeper = server.engine or "docker"
    return (
        f"the server was started in container {server.container[:12]} while that ran ({keeper} exec), so {keeper} logs "
        f"has none of its lines; it writes to {to or 'a place that is not seen'}; start it with `2>&1 | tee FILE`"
    )


def _journal(server: Server) -> LogPlace:
    """A unit of a person's own manager stands in another field than one of the system's (systemd.journal-fields(7))."""
    own = "/user@" in server.launcher.groups
    field, shown = ("_SYSTEMD_USER_UNIT", "--user-unit") if own else ("_SYSTEMD_UNIT", "-u")
    since_s = int(server.launcher.started_s or 0)
    more = (field,) if server.launcher.outputs else (field, "hidden")
    return LogPlace("journal", server.unit, f"journalctl {shown} {shlex.quote(server.unit)}", since_s, more)


def _is_file(to: str) -> bool:
    return to.startswith("/") and not to.startswith("/dev/")
