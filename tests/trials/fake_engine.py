"""A host with a container engine, as dockerd 20.10 and podman 4.3 were seen to behave: what they print, and that a
name is taken once, that `start` of what runs does nothing, that logs of every start are kept."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppagent.errors import ToolError
from ppagent.targets.remote.link import End

FOLDER = Path(__file__).parent / "containers"
READY = "The server is fired up and ready to roll!\n"
OPTIONS_WITH_VALUE = ("--name", "--restart", "--label", "--env-file")


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


class FakeLink:
    """A link to the host called `box`, whose commands `answer` answers."""

    kind = "ssh"
    name = "box"
    names = ("box",)

    def answer(self, argv: Sequence[str], stdin: bytes) -> tuple[int, str, str]:
        """The exit status, what is written, and what is complained of."""
        raise NotImplementedError

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Any:
        code, out, err = self.answer(argv, stdin)
        return Over(code, out.encode(), err.encode())

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Any:
        raise ToolError("nothing answers")

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class FakeEngine(FakeLink):
    """Containers by id. `unlike`: a setting that the engine sets otherwise in what it makes."""

    program: str = "docker"
    policies_change: bool = True
    unlike: str = ""
    start_fails: bool = False
    refuses: str = ""
    """What the engine says to everything, where it may not be asked."""
    diff: str = "C /root\nA /root/.triton/x\n"
    containers: dict[str, dict[str, Any]] = field(default_factory=dict)
    logs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Of each container (start, text)."""
    ran: list[str] = field(default_factory=list)
    given: list[bytes] = field(default_factory=list)
    """What came on standard input."""
    clock: int = 0

    def __post_init__(self) -> None:
        old = recorded(f"{self.program}-old")
        self.containers = {old["Id"]: old}
        self.run(old["Id"])

    @property
    def old(self) -> dict[str, Any]:
        return next(iter(self.containers.values()))

    def named(self, name: str) -> dict[str, Any]:
        return next(each for each in self.containers.values() if each["Name"].lstrip("/") == name)

    def states(self) -> dict[str, bool]:
        """Which containers there are, and whether they run."""
        return {each["Name"].lstrip("/"): each["State"]["Running"] for each in self.containers.values()}

    def run(self, there: str) -> None:
        """The first lines are logged before the engine notes the start, as real ones do."""
        self.clock += 1
        first, begin = f"2026-11-30T07:00:{self.clock:02}.4Z", f"2026-11-30T07:00:{self.clock:02}.5Z"
        self.containers[there]["State"].update(Running=True, Pid=100 + self.clock, StartedAt=begin, ExitCode=0)
        self.logs.setdefault(there, []).append((first, f"start {self.clock}\n{READY}"))

    def __repr__(self) -> str:
        return f"FakeEngine({self.program})"

    def answer(self, argv: Sequence[str], stdin: bytes) -> tuple[int, str, str]:
        words = list(argv)[4:] if argv[0] == "sh" else list(argv)
        self.ran.append(shlex.join(words))
        if words[0] != self.program:
            return 127, "", f"{words[0]}: not found"
        if self.refuses:
            return 1, "", self.refuses
        try:
            return self._deed(words[1], words[2:], stdin)
        except KeyError as error:
            return 1, "", f"Error: No such container: {error.args[0]}"

    def _deed(self, deed: str, words: list[str], stdin: bytes) -> tuple[int, str, str]:
        match deed, words:
            case "inspect", ["--type", "image", name]:
                image = recorded(f"{self.program}-image")
                known = (image["Id"], self.old["Config"]["Image"])
                return (0, json.dumps([image]), "") if name in known else (1, "[]", "Error: No such image")
            case "inspect", ["--type", "container", there]:
                return 0, json.dumps([self.containers[there]]), ""
            case "diff", [_]:
                return 0, self.diff, ""
            case "update", ["--help"]:
                return 0, "  --restart string\n" if self.policies_change else "  --cpus\n", ""
            case "update", [option, there]:
                policy = {"Name": option.removeprefix("--restart="), "MaximumRetryCount": 0}
                self.containers[there]["HostConfig"]["RestartPolicy"] = policy
            case "ps", [*_, label]:
                mark = label.removeprefix("label=").split("=")
                marked = [n for n, each in self.containers.items() if _label(each, mark[0]) == mark[1]]
                return 0, "\n".join(marked), ""
            case "create", _:
                return self._create(words, stdin)
            case "logs", [*words, there]:
                since = words[1] if words else ""
                return 0, "".join(text for begin, text in self.logs.get(there, ()) if begin >= since), ""
            case _:
                return self._change(deed, words)
        return 0, "", ""

    def _create(self, words: list[str], stdin: bytes) -> tuple[int, str, str]:
        told = dict(zip(words[0:8:2], words[1:8:2], strict=True))
        assert tuple(told) == OPTIONS_WITH_VALUE
        if told["--name"] in self.states():
            return 125, "", f'Conflict. The container name "/{told["--name"]}" is already in use'
        self.given.append(stdin)
        made = json.loads(json.dumps(self.old).replace(self.old["Id"], f"{len(self.ran):064x}"))
        made["Name"] = f"/{told['--name']}"
        made["HostConfig"]["RestartPolicy"] = {"Name": told["--restart"], "MaximumRetryCount": 0}
        made["State"].update(Running=False, Pid=0, StartedAt="0001-01-01T00:00:00Z")
        made["Config"]["Env"] = stdin.decode().splitlines()
        name, _, value = told["--label"].partition("=")
        made["Config"]["Labels"] = {**(made["Config"]["Labels"] or {}), name: value}
        at = words.index(self.old["Config"]["Image"])
        made["Path"], made["Args"] = words[at + 1], words[at + 2 :]
        if self.unlike:
            made["HostConfig"][self.unlike] = "other"
        self.containers[made["Id"]] = made
        return 0, f"{made['Id']}\n", "WARNING: something of the engine\n"

    def _change(self, deed: str, words: list[str]) -> tuple[int, str, str]:
        there = words[0] if deed == "rename" else words[-1]
        state = self.containers[there]["State"]
        match deed:
            case "stop":
                finished = f"2026-11-30T07:00:{self.clock:02}.9Z"
                state.update(Running=False, Pid=0, ExitCode=0, FinishedAt=finished)
            case "rename":
                self.containers[there]["Name"] = f"/{words[1]}"
            case "rm":
                del self.containers[there]
            case "start" if self.start_fails and there != next(iter(self.containers)):
                return 1, "", "Error response from daemon: could not select device driver"
            case "start":
                if not state["Running"]:
                    self.run(there)
            case _:
                return 1, "", f"unknown command: {deed}"
        return 0, f"{there}\n", ""


def _label(container: dict[str, Any], name: str) -> str:
    return str((container["Config"].get("Labels") or {}).get(name, ""))


@dataclass
class Over:
    """A command that has ended."""

    exit: int
    out: bytes
    err: bytes
    end: End = End.EXITED

    def pieces(self) -> Any:
        yield from ((False, self.out), (True, self.err))

    def close(self) -> None:
        """It is over."""
