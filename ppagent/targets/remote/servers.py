"""Which SGLang servers run on a host."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ppagent.errors import ToolError
from ppagent.targets.remote.containers import container_of, engine_of, owner_of
from ppagent.targets.remote.processes import Process

DEFAULT_PORT = 30000
"""`--port` of SGLang (`srt/server_args.py`, all versions)."""

_UNIT = re.compile(r"(?m)/([\w@.\\:-]+\.service)(?=/|$)")
"""Under control groups of version 1 it stands on the line of `name=systemd`, which is not the last."""
_PYTHON = re.compile(r"python[\d.]*$")


@dataclass(frozen=True)
class Server:
    """One server: the process that was launched and those it started."""

    launcher: Process
    workers: tuple[Process, ...]
    port: int
    address: str
    """Where the host itself reaches it: for a container of which a port is published, at that one."""

    @property
    def listens(self) -> tuple[str, int]:
        """Address and port that it listens at, as whoever shares its network reaches it."""
        published = next((lead for lead in self.launcher.contained.leads if lead.port == self.port), None)
        return _address(self.launcher), self.port if published is None else published.inner

    @property
    def container(self) -> str:
        """Id of the container it runs in; empty for none."""
        return container_of(self.launcher.groups)

    @property
    def engine(self) -> str:
        """Who keeps that container: docker or podman; empty for neither."""
        return engine_of(self.launcher.groups)

    @property
    def keeps_for_another(self) -> str:
        """The account whose podman keeps that container, where it is not the one that looks: it tells nobody else, and
        one that is asked makes folders of its own. Empty where it may be asked."""
        launcher, owner = self.launcher, owner_of(self.launcher.groups)
        if self.engine != "podman" or launcher.contained.looked_by in (None, owner):
            return ""
        return launcher.user if owner and launcher.user and not launcher.user.isdecimal() else str(owner or "root")

    @property
    def enter(self) -> tuple[str, ...]:
        """What goes before a command that is to run in its container; nothing where it is in none. What no docker or
        podman keeps (containerd, CRI-O) is entered by its mounts, for which one must be root; a container of another
        account's podman with no more rights than that account has. Raises ToolError where it may not be entered."""
        if not self.container:
            return ()
        by_mounts = ("nsenter", "-t", str(self.launcher.pid))
        if not self.engine:
            return (*by_mounts, "-m", "-r", "--")
        if not self.keeps_for_another:
            return (self.engine, "exec", "-i", self.container)
        if self.launcher.contained.looked_by == 0:
            return (*by_mounts, "-U", "-m", "-r", "--")
        raise ToolError(f"{self.kept_by}; log in as {self.keeps_for_another}")

    @property
    def kept_by(self) -> str:
        """Whose podman keeps its container, in words."""
        owner = self.keeps_for_another
        return f"container {self.container[:12]} is kept by the podman of {owner}, which tells nobody else"

    @property
    def unit(self) -> str:
        """The systemd unit that runs it; empty for none."""
        names = _UNIT.findall(self.launcher.groups)
        return next((name for name in reversed(names) if not name.startswith("user@")), "")

    @property
    def secure(self) -> bool:
        """Whether it speaks TLS."""
        return bool(option(self.launcher.cmdline, "--ssl-certfile"))

    @property
    def node_rank(self) -> int:
        text = option(self.launcher.cmdline, "--node-rank")
        return int(text) if text.isdecimal() else 0


def find_servers(processes: Sequence[Process], parents: Mapping[int, int], listening: str) -> tuple[Server, ...]:
    """The servers of a host by port. `parents` maps every process to its parent; `listening` is what /proc/net/tcp
    says of listening sockets, an address and an inode a line."""
    launchers = {process.pid: process for process in processes if launches(process.cmdline)}
    orphans = [process for process in processes if process.title and not _root(process.pid, parents, launchers)]
    for process in processes:
        if any(orphan.ppid == process.pid for orphan in orphans) and not process.title:
            launchers[process.pid] = process
    servers = []
    for pid, launcher in launchers.items():
        if _root(parents.get(pid, 0), parents, launchers):
            continue
        own = tuple(p for p in processes if p.pid != pid and _root(p.pid, parents, {pid: launcher}))
        servers.append(Server(launcher, own, *_reached(launcher, _port(launcher, listening))))
    return tuple(sorted(servers, key=lambda server: server.port))


def launches(cmdline: Sequence[str]) -> bool:
    """Whether a command line is that of a server's first process, not of a shell or a container client around it."""
    if not cmdline:
        return False
    program = PurePosixPath(cmdline[0]).name
    if program == "sglang":
        return list(cmdline[1:2]) == ["serve"]
    if not _PYTHON.match(program):
        return False
    rest = list(cmdline[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    match rest:
        case ["-m", "sglang.launch_server", *_] | ["-m", "sglang.cli.main" | "sglang", "serve", *_]:
            return True
        case [script, *arguments]:
            name = PurePosixPath(script).name
            return name == "launch_server.py" or (name == "sglang" and arguments[:1] == ["serve"])
        case _:
            return False


def option(cmdline: Iterable[str], name: str) -> str:
    """The value of an option (`--name value` or `--name=value`, dashes and underscores alike); empty for none."""
    words = list(cmdline)
    for place, word in enumerate(words):
        key, equals, value = word.partition("=")
        if key.startswith("--") and key.replace("_", "-") == name:
            return value if equals else "".join(words[place + 1 : place + 2])
    return ""


def _root(pid: int, parents: Mapping[int, int], wanted: Mapping[int, Process]) -> int:
    """The first of `wanted` among a process and its ancestors; 0 for none."""
    seen: set[int] = set()
    while pid and pid not in seen:
        if pid in wanted:
            return pid
        seen.add(pid)
        pid = parents.get(pid, 0)
    return 0


def _port(launcher: Process, listening: str) -> int:
    """The port it was given, else the one it listens on, else the default."""
    given = option(launcher.cmdline, "--port")
    if given.isdecimal():
        return int(given)
    held = {socket.strip("socket:[]") for socket in launcher.sockets}
    ports = sorted(
        int(cells[0].rpartition(":")[2], 16)
        for line in listening.splitlines()
        if len(cells := line.split()) == 2 and cells[1] in held
    )
    return DEFAULT_PORT if DEFAULT_PORT in ports or len(ports) != 1 else ports[0]


def _reached(launcher: Process, port: int) -> tuple[int, str]:
    """Port and address at which the host itself reaches what listens at `port` of a launcher's network."""
    contained = launcher.contained
    lead = next((lead for lead in contained.leads if lead.inner == port), None)
    if lead is not None:
        return lead.port, lead.host or "127.0.0.1"
    own = launcher.addresses[0] if contained.apart and launcher.addresses else ""
    address = _address(launcher)
    return port, own if own and address == "127.0.0.1" else address


def _address(launcher: Process) -> str:
    given = option(launcher.cmdline, "--host").strip("[]")
    match given:
        case "" | "0.0.0.0" | "localhost":
            return "127.0.0.1"
        case "::":
            return "::1"
        case _:
            return given
