"""What can be investigated. A tool asks a target for things by meaning; how they are fetched is the target's affair."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

NO_SERVER = "no process of an SGLang server can be seen on"
"""Begins the reason why a live host gives nothing of a server."""


class Artifact(Enum):
    """The things a host of a deployment can be asked for; the value is the name in a recording."""

    LAUNCH = "launch.txt"
    PROCESSES = "processes.json"
    SERVER_LOG = "server.log"
    SERVER_INFO = "server_info.json"
    LOADS = "loads.json"
    GPUS = "gpus.csv"
    GPU_PROCESSES = "gpu_processes.csv"
    TOPOLOGY = "topology.txt"
    MODEL_CONFIG = "model_config.json"
    VERSION = "sglang_version.txt"
    HOST = "host.json"
    ENVIRONMENT = "environment.txt"
    PACKAGES = "packages.txt"
    DMESG = "dmesg.txt"
    COMMANDS = "commands.jsonl"


class Shared(Enum):
    """The things that belong to the deployment, not to one host."""

    INCIDENT = "incident.yaml"
    BENCH = "bench.jsonl"
    RELAUNCHES = "relaunches.jsonl"


@dataclass(frozen=True)
class SourceHit:
    """One line of the installed package that matched a search."""

    path: str
    line: int
    text: str


class SourceTree(Protocol):
    """The sglang package as installed (or what was recorded of it). Paths are relative and start with `sglang/`."""

    def files(self) -> tuple[str, ...]: ...

    def read(self, path: str) -> str:
        """The file's text. Raises NotRecorded when it is not there, ToolError when the path leaves the package."""
        ...

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]: ...


@runtime_checkable
class Target(Protocol):
    """A live deployment or a recording of one. Every method raises NotRecorded for what is not there
    and ToolError for what is there but cannot be read."""

    @property
    def kind(self) -> str:
        """recording, local or ssh."""
        ...

    @property
    def name(self) -> str: ...

    @property
    def hosts(self) -> tuple[str, ...]:
        """Labels of the hosts, the one with pipeline stage 0 first."""
        ...

    def text(self, host: str, artifact: Artifact) -> str:
        """A whole artifact. Undecodable bytes are replaced, never fatal."""
        ...

    def log(self, host: str) -> Iterator[bytes]:
        """The server's log as lines of bytes, oldest first, streamed."""
        ...

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        """(artifact name, text) of each scrape of /metrics, oldest first."""
        ...

    def source(self, host: str) -> SourceTree: ...

    def shared(self, artifact: Shared) -> str: ...
