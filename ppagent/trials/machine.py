"""The host of a server as something that can stop and start it."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from ppagent.errors import ToolError

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link

LOOK_S = 30.0
START_S = 30.0


@dataclass(frozen=True)
class Launched:
    """How the server was started, kept on its host under `folder`."""

    folder: str
    argv: tuple[str, ...]
    cwd: str
    log: str
    parent: str
    """What the process was started by, in words; empty where that is gone."""
    left: str = ""
    """What stays on the host where the new launch is kept, and how to remove it; empty for nothing to speak of."""


@dataclass(frozen=True)
class Started:
    """A server that was just started: its process, and where its part of the log begins."""

    pid: int
    log: str
    offset: int


@dataclass(frozen=True)
class Stopped:
    """How a server ended."""

    killed: int
    """Processes that had to be made to end."""
    seconds: float


@dataclass(frozen=True)
class Look:
    """A server seen from its host."""

    alive: bool
    offset: int
    text: str


class Keeper(Protocol):
    """Whatever stops and starts the server: its host, or systemd or a container engine there."""

    @property
    def link(self) -> "Link": ...

    @property
    def changed(self) -> bool:
        """Whether the new launch would be started again by itself, so that serving does not mean being back."""
        ...

    def note(self) -> dict[str, object]:
        """What it takes to make this again after a crash."""
        ...

    def stop(self, pid: int, patience_s: float) -> Stopped: ...

    def start(self, folder: str, which: str) -> Started: ...

    def look(self, started: Started, offset: int) -> Look: ...

    def keep(self) -> None:
        """The new launch stays for good."""
        ...


@dataclass(frozen=True)
class Machine:
    """Deeds on one host, through a Python that is there."""

    link: "Link"
    python: str
    changed = False

    def note(self) -> dict[str, object]:
        return {"python": self.python}

    def keep(self) -> None:
        """Nothing starts another launch, so there is nothing to do."""

    def save(self, pid: int, run_id: str) -> Launched:
        """Keeps the launch of a process on its host. Raises ToolError, where rights are missing among others."""
        told = self._do("save", {"pid": pid, "id": run_id}, LOOK_S)
        argv = told["argv"]
        words = tuple(str(word) for word in argv) if isinstance(argv, list) else ()
        return Launched(str(told["folder"]), words, str(told["cwd"]), str(told["log"]), str(told["parent"]))

    def prepare(self, folder: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Puts the new launch beside the old one."""
        self._do("prepare", {"folder": folder, "argv": list(argv), "env": dict(env)}, LOOK_S)

    def stop(self, pid: int, patience_s: float) -> Stopped:
        """Ends a server and everything it started. Raises ToolError where it will not end."""
        told = self._do("stop", {"pid": pid, "patience_s": patience_s}, patience_s + 60)
        if not told["stopped"]:
            raise ToolError(f"process {pid} does not end, not even when it is killed")
        return Stopped(int(str(told["killed"])), float(str(told["seconds"])))

    def start(self, folder: str, which: str) -> Started:
        """Starts the `old` or the `new` launch."""
        told = self._do("start", {"folder": folder, "which": which}, START_S)
        return Started(int(str(told["pid"])), str(told["log"]), int(str(told["offset"])))

    def look(self, started: Started, offset: int) -> Look:
        """What became of it, and its log from `offset` on."""
        told = self._do("look", {"pid": started.pid, "log": started.log, "offset": offset}, LOOK_S)
        return Look(bool(told["alive"]), int(str(told["offset"])), str(told["text"]))

    def _do(self, deed: str, asked: Mapping[str, object], timeout_s: float) -> dict[str, object]:
        from ppagent.targets.remote.link import run

        mark = f"@@{secrets.token_hex(8)}"
        question = json.dumps({**asked, "deed": deed, "mark": mark})
        program = resources.files("ppagent.trials").joinpath("on_host.py").read_bytes()
        ran = run(self.link, [self.python, "-I", "-B", "-", question], timeout_s=timeout_s, stdin=program)
        _, found, text = ran.text.partition(mark)
        if not found:
            raise ToolError(f"{deed} on {self.link.name} was not done: {ran.complaint}")
        answer = json.loads(text)
        if "error" in answer:
            raise ToolError(f"{deed} on {self.link.name} was not done: {answer['error']}")
        return dict(answer)
