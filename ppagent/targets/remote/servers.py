"""Which SGLang servers run on a host, and which of them is meant."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ppagent.errors import NotRecorded, UserError
from ppagent.evidence.masking import mask
from ppagent.targets.remote.processes import Process

DEFAULT_PORT = 30000
"""`--port` of SGLang (`srt/server_args.py`, all versions)."""

_CONTAINER = re.compile(
    r"(?:docker|libpod|crio|cri-containerd)[-/](?:payload-)?([0-9a-f]{12,64})|/kubepods\S*/([0-9a-f]{64})"
)
"""Below a unit's own group, as Podman puts a container that systemd runs, it is `libpod-payload-ID`."""
_UNIT = re.compile(r"/([\w@.\\:-]+\.service)(?:/|$)")
_PYTHON = re.compile(r"python[\d.]*$")


@dataclass(frozen=True)
class Server:
    """One server: the process that was launched and those it started."""

    launcher: Process
    workers: tuple[Process, ...]
    port: int
    address: str
    """Where the host itself reaches it."""

    @property
    def container(self) -> str:
        """Id of the container it runs in; empty for none."""
        match = _CONTAINER.search(self.launcher.groups)
        return (match[1] or match[2]) if match else ""

    @property
    def enter(self) -> tuple[str, ...]:
        """What goes before a command that is to run in its container; nothing where it is in none. What no docker or
        podman keeps (containerd, CRI-O) is entered by its mounts, for which one must be root."""
        if not self.container:
            return ()
        keeper = re.search(r"docker|libpod", self.launcher.groups)
        if keeper is None:
            return ("nsenter", "-t", str(self.launcher.pid), "-m", "-r", "--")
        return ("docker" if keeper[0] == "docker" else "podman", "exec", "-i", self.container)

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
        servers.append(Server(launcher, own, _port(launcher, listening), _address(launcher)))
    return tuple(sorted(servers, key=lambda server: server.port))


def choose(servers: Sequence[Server], port: int | None, host: str) -> Server:
    """The server that is meant. Raises UserError where that cannot be told, NotRecorded where none runs."""
    meant = [server for server in servers if port is None or server.port == port]
    if len(meant) == 1:
        return meant[0]
    listed = "; ".join(f"port {s.port}: {_told(s.launcher)}" for s in servers)
    if len(meant) > 1:
        raise UserError(f"{len(meant)} SGLang servers run on {host} ({listed}).", "Choose one with --port.")
    if servers:
        raise UserError(f"No SGLang server on {host} has port {port}.", f"There is {listed}.")
    raise NotRecorded(f"no process of an SGLang server can be seen on {host}")


def _told(launcher: Process) -> str:
    """The beginning of a launch from its first option on: what tells it from another, without secrets."""
    words = list(launcher.cmdline)
    first = next((place for place, word in enumerate(words) if word.startswith("--")), 0)
    return mask(shlex.join(words[first:]))[:80]


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


def _address(launcher: Process) -> str:
    given = option(launcher.cmdline, "--host").strip("[]")
    match given:
        case "" | "0.0.0.0" | "localhost":
            return "127.0.0.1"
        case "::":
            return "::1"
        case _:
            return given
