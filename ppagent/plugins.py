"""The door through which every tool comes in: the built-in ones and anyone else's (entry points `ppagent.tools`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from ppagent.evidence.evidence import Finding
from ppagent.targets.target import Target

GROUP = "ppagent.tools"

BUILT_IN: dict[str, str] = {
    "user": "ppagent_tools.user:tools",
    "server": "ppagent_tools.server:tools",
    "http": "ppagent_tools.http:tools",
    "logs": "ppagent_tools.logs:tools",
    "source": "ppagent_tools.source:tools",
    "source_flag": "ppagent_tools.source_flag:tools",
    "source_flags": "ppagent_tools.source_flags:tools",
    "gpu": "ppagent_tools.gpu:tools",
    "host": "ppagent_tools.host:tools",
    "bench": "ppagent_tools.bench:tools",
    "bench_live": "ppagent_tools.bench_live:tools",
    "tune": "ppagent_tools.tune:tools",
    "profile": "ppagent_tools.profile:tools",
    "shell": "ppagent_tools.shell:tools",
}
"""Named in code, so that a clean checkout works without an install; entry points are for other packages."""


class Grade(IntEnum):
    """How much a tool disturbs what it looks at."""

    READ_FILE = 0
    HTTP_GET = 1
    READ_HOST = 2
    PERTURB = 3
    LOAD = 4
    RESTART = 5


class NoArguments(BaseModel, extra="forbid"):
    """For a tool that takes none."""


@dataclass
class ToolContext:
    """What a tool works with. `cache` lives for one investigation, so that a log is read once for all its tools."""

    target: Target
    cache: dict[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = lambda sentence: None
    """Tells whoever looks on how far a tool has got that takes minutes; by default nobody does."""


class Tool(Protocol):
    """A typed, graded question. `run` raises NotRecorded or ToolError when it has no answer."""

    name: str
    """family.question, e.g. "logs.decode"."""
    summary: str
    """One paragraph: what it tells; the model sees it."""
    grade: Grade
    provides: tuple[str, ...]
    """Prefixes of the fact names that its answer may hold."""
    arguments: type[BaseModel]

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]: ...


@dataclass(frozen=True)
class Announcement:
    """What a tool that disturbs a server would do, told before it is allowed to."""

    runs: str
    """The exact command or steps; for a restart the whole diff."""
    seconds: float | None = None
    effect: str = ""
    where: str = ""


@runtime_checkable
class Announces(Protocol):
    """A tool that tells beforehand what it would do. Raises ToolError where it cannot be done at all."""

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement: ...


def live_only(tool: Tool) -> bool:
    """Whether a tool acts on a server, so that a recording has nothing for it to do (attribute `live_only`)."""
    return bool(getattr(tool, "live_only", False))


@dataclass(frozen=True)
class ToolSource:
    """Where tools came from, and why they did not where they failed to load."""

    name: str
    origin: str
    tools: tuple[Tool, ...] = ()
    error: str = ""


def discover() -> tuple[ToolSource, ...]:
    """Built-in sources first, then installed plugins. A plugin that fails to load is reported, never silent."""
    built_in = [_load(name, path, "built in") for name, path in BUILT_IN.items()]
    plugins = [
        _load(entry.name, entry.value, entry.dist.name if entry.dist else "unknown package")
        for entry in entry_points(group=GROUP)
    ]
    return (*built_in, *plugins)


def _load(name: str, path: str, origin: str) -> ToolSource:
    """A source is a callable that returns tools."""
    module_name, _, attribute = path.partition(":")
    try:
        made = getattr(import_module(module_name), attribute)()
    except Exception as error:  # noqa: BLE001 - other people's code: whatever it raises is shown, not fatal
        if origin == "built in":
            raise
        return ToolSource(name, origin, error=f"{type(error).__name__}: {error}")
    return ToolSource(name, origin, tuple(made) if isinstance(made, list | tuple) else (made,))
