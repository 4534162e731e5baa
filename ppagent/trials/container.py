"""A server in a Docker or Podman container, relaunched by another container of the same settings beside the old one.

A container's command cannot be changed. So the old one is stopped, renamed and left as it is, and a new one takes its
name. While a trial runs, the new one has no restart policy and the old one keeps its own, so that a reboot in the
middle starts the old server or none (`always` was seen to). Only a launch that is kept takes the policy over.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppagent.errors import ToolError
from ppagent.trials.container_options import MARK, Shown, env_file, policy_of
from ppagent.trials.container_same import differences
from ppagent.trials.container_shown import shown_in
from ppagent.trials.machine import Launched, Look, Started, Stopped
from ppagent.trials.watch import StartFailed

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link, Ran

ANSWER_S = 60.0
START_S = 300.0
"""A start mounts, and asks the cards for their driver."""
LARGEST_LOOK = 1 << 18
_KILLED = 137
_NEVER = "0001-"
"""Begins the time of what has not been."""


class Gone(ToolError):
    """A container is not there any more."""


@dataclass(frozen=True)
class Copy:
    """What a new container is made of, its name and restart policy aside."""

    options: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    """All its variables; they hold keys, and reach the engine on its standard input alone."""
    image: str
    command: tuple[str, ...]
    changed: Mapping[str, str]
    """Those of the variables that are to differ."""


@dataclass
class ContainerMachine:
    """Deeds on one container. `old`: its id; `policy`: its restart policy; `run_id`: of this relaunch."""

    link: "Link"
    program: str
    old: str
    name: str
    policy: str
    run_id: str
    copy: Copy | None = field(default=None, repr=False)

    @property
    def put_aside(self) -> str:
        """What the old container is called while the new one has its name."""
        return f"{self.name}-before-ppagent-{self.run_id}"

    def prepare(self) -> Launched:
        """Makes the new container, holds it against the old one, and removes it again: nothing is changed by that.
        Raises ToolError where it is not the same."""
        trial = f"{self.name}-ppagent-{self.run_id}"
        made = self._make(trial)
        try:
            unlike = differences(self.shown(self.old), self.shown(made), self._copy.changed)
        finally:
            self._do(["rm", "-f", made])
        if unlike:
            raise ToolError(
                f"a new container would not be like {self.name} on {self.link.name}: {', '.join(unlike)} would differ; "
                "nothing was changed"
            )
        remove = f"{self.program} rm {self.put_aside}"
        left = f"the old container stays, stopped, as {self.put_aside}; when it is not wanted any more: {remove}"
        log = f"{self.program} logs {self.name}"
        return Launched(f"container {self.put_aside}", self._copy.command, "", log, self.program, left)

    def note(self) -> dict[str, object]:
        """What brings it back after a crash."""
        return {
            "container": self.old, "program": self.program, "name": self.name, "policy": self.policy,
            "run_id": self.run_id,
        }  # fmt: skip

    @property
    def changed(self) -> bool:
        """Whether a container of this trial is there, or the old one is put aside."""
        try:
            return self._name_of_old() != self.name or bool(self._new())
        except Gone:
            return False

    def stop(self, pid: int, patience_s: float) -> Stopped:
        """Stops the new container where there is one, else the old one; the engine ends what will not end by itself.
        Raises ToolError where it does not stop."""
        begin = time.monotonic()
        there = self._to_be_stopped()
        self._do(["stop", "-t", f"{patience_s:.0f}", there], patience_s + 60)
        state = self.shown(there)["State"]
        if state["Running"]:
            raise ToolError(f"container {there[:12]} does not stop")
        return Stopped(int(state.get("ExitCode") == _KILLED), time.monotonic() - begin)

    def start(self, folder: str, which: str) -> Started:
        """Starts a container with the `new` command under the old one's name, or the old one as it was. Raises
        StartFailed where the engine does not start it."""
        if which == "new":
            self._call(self.old, self.put_aside)
            there = self._make(self.name)
        else:
            there = self.old
            self._name_of_old()
            if made := self._new():
                self._do(["rm", "-f", made])
            self._call(there, self.name)
            self._give_policy(there, self.policy)
        # Engines note the start after the process began, so its first lines are told by the end before it.
        ended = str(self.shown(there)["State"].get("FinishedAt") or _NEVER)
        ran = self._run([self.program, "start", there], timeout_s=START_S)
        if not ran.ok:
            raise StartFailed(f"{self.program} does not start the {which} container: {ran.complaint}", ())
        state = self.shown(there)["State"]
        return Started(int(state["Pid"]) or -1, "\t".join((there, state["StartedAt"], ended)), 0)

    def look(self, started: Started, offset: int) -> Look:
        """Whether that very container runs since that very start, and what it logged from `offset` on."""
        there, began, ended = started.log.split("\t")
        state = self.shown(there)["State"]
        from ppagent.targets.remote.link import End

        since = [] if ended.startswith(_NEVER) else ["--since", ended]
        ran = self._run(["sh", "-c", 'exec "$@" 2>&1', "ppagent", self.program, "logs", *since, there])
        if ran.end is not End.CUT:  # the ready line stands at the beginning, so that much is enough
            self._well(ran, f"the log of container {there[:12]} cannot be read")
        text = ran.stdout[offset : offset + LARGEST_LOOK]
        whole = text[: text.rfind(b"\n") + 1] or text
        alive = bool(state["Running"]) and state["StartedAt"] == began
        return Look(alive, offset + len(whole), whole.decode("utf-8", errors="replace"))

    def keep(self) -> None:
        """The new container takes over the restart policy, the old one has none from now on."""
        if self.policy != "no":
            self._give_policy(self.old, "no")
            self._give_policy(self._new(), self.policy)

    def shown(self, there: str) -> Shown:
        """What the engine shows of a container. Raises ToolError."""
        ran = self._run([self.program, "inspect", "--type", "container", there])
        if not ran.ok and "no such" in ran.complaint.lower():
            raise Gone(f"somebody removed container {there[:12]} on {self.link.name}, and with it what is to come back")
        self._well(ran, f"container {there[:12]} cannot be looked at")
        try:
            return shown_in(ran.stdout, "container")
        except ValueError as error:
            raise ToolError(f"{self.program} on {self.link.name} cannot be read: {error}") from error

    @property
    def _copy(self) -> Copy:
        if self.copy is None:
            raise AssertionError("the new container was told of")
        return self.copy

    def _make(self, name: str) -> str:
        """Makes the new container, without a restart policy; its id."""
        words = ["create", "--name", name, "--restart", "no", "--label", f"{MARK}={self.run_id}"]
        words += ["--env-file", "/dev/stdin", *self._copy.options, self._copy.image, *self._copy.command]
        ran = self._run([self.program, *words], env_file(self._copy.env))
        self._well(ran, f"no container can be made like {self.name}")
        return ran.text.split()[-1]

    def _new(self) -> str:
        """The id of the container of this trial; empty where there is none."""
        label = f"label={MARK}={self.run_id}"
        ran = self._run([self.program, "ps", "-a", "-q", "--no-trunc", "--filter", label])
        self._well(ran, f"{self.program} cannot be asked")
        return next((each for each in ran.text.split() if each != self.old), "")

    def _to_be_stopped(self) -> str:
        """The new container where there is one, else the old one. Raises ToolError where the one cannot come back, or
        somebody else does something with it."""
        name = self._name_of_old()
        if name not in (self.name, self.put_aside):
            raise ToolError(f"container {self.name} is called {name} by now: somebody else is at work on it")
        return self._new() or self.old

    def _name_of_old(self) -> str:
        return str(self.shown(self.old)["Name"]).removeprefix("/")

    def _call(self, there: str, name: str) -> None:
        if self._name_of_old() != name:
            self._do(["rename", there, name])

    def _give_policy(self, there: str, policy: str) -> None:
        if policy_of(self.shown(there)) != policy:
            self._do(["update", f"--restart={policy}", there])

    def _do(self, words: Sequence[str], timeout_s: float = ANSWER_S) -> None:
        self._well(self._run([self.program, *words], timeout_s=timeout_s), f"{self.program} {words[0]} failed")

    def _run(self, argv: Sequence[str], stdin: bytes = b"", timeout_s: float = ANSWER_S) -> "Ran":
        from ppagent.targets.remote.link import run

        return run(self.link, argv, timeout_s=timeout_s, stdin=stdin)

    def _well(self, ran: "Ran", wrong: str) -> None:
        if not ran.ok:
            raise ToolError(f"{wrong} on {self.link.name}: {ran.complaint}")


def container_in(note: Mapping[str, object], link: "Link") -> ContainerMachine:
    """The container of a restore note."""
    told = {name: str(note[name]) for name in ("program", "container", "name", "policy", "run_id")}
    return ContainerMachine(link, told["program"], told["container"], told["name"], told["policy"], told["run_id"])
