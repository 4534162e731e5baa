"""The processes of a host as recorded: which belong to the server, and what they are called."""

import re
from dataclasses import dataclass

from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.reading import Document, document, parse_json

_SERVER = re.compile(
    r"sglang::|sglang\.launch_server|sglang\.cli|(?:^|[\s/])sglang serve\b|launch_server\.py|^sglang\b"
)


@dataclass(frozen=True)
class Process:
    """One process of processes.json. `cpu_percent` counts one full core as 100."""

    pid: int
    ppid: int | None
    cmdline: tuple[str, ...]
    env: dict[str, str]
    cpu_percent: float | None
    affinity: object

    @property
    def command(self) -> str:
        return " ".join(self.cmdline)

    @property
    def launches(self) -> bool:
        """Whether the command line starts a server; workers carry a title (`sglang::scheduler_PP0`) instead."""
        return bool(_SERVER.search(self.command)) and "::" not in self.command

    @property
    def title(self) -> str:
        """What the process is called: the title SGLang gives it, else the program."""
        if match := re.search(r"sglang::\S+", self.command):
            return match[0]
        return "sglang.launch_server" if self.launches else (self.cmdline[0] if self.cmdline else str(self.pid))


def read_processes(context: ToolContext, host: str) -> tuple[Document, list[Process]]:
    """processes.json of a host. Raises NotRecorded, and ToolError where it is no list of processes."""
    found = document(context, host, Artifact.PROCESSES)
    value = parse_json(found)
    if not isinstance(value, list):
        raise found.error("a JSON list of processes was expected", 1)
    return found, [_process(found, item) for item in value]


def server_processes(processes: list[Process]) -> list[Process]:
    """The server's own processes: those that carry its name, and what they started."""
    own = {p.pid for p in processes if _SERVER.search(p.command)}
    grown = True
    while grown:
        children = {p.pid for p in processes if p.ppid in own} - own
        own |= children
        grown = bool(children)
    return [p for p in processes if p.pid in own]


def _process(found: Document, item: object) -> Process:
    if not isinstance(item, dict) or not isinstance(item.get("pid"), int):
        raise found.error("a process without a pid")
    words = item.get("cmdline")
    cmdline = tuple(str(word) for word in words) if isinstance(words, list) else tuple(str(words or "").split())
    env = item.get("env")
    cpu = item.get("cpu_percent")
    ppid = item.get("ppid")
    return Process(
        pid=item["pid"],
        ppid=ppid if isinstance(ppid, int) else None,
        cmdline=cmdline,
        env={str(k): str(v) for k, v in env.items()} if isinstance(env, dict) else {},
        cpu_percent=float(cpu) if isinstance(cpu, int | float) and not isinstance(cpu, bool) else None,
        affinity=item.get("cpu_affinity"),
    )
