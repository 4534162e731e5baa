"""One profile of a running server: started, awaited, never left running."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ppagent.bench.control import Control, Unreachable
from ppagent.errors import NotRecorded, PpagentError, ToolError
from ppagent.sglang.profiling import profile_body
from ppagent.targets.live import LiveTarget
from ppagent.targets.remote.trace_files import TraceFile, TraceFolder

START_S = 120.0
"""The first profile of a process loads the vendor's tracing library, which takes seconds."""
STOP_S = 60.0
WRITE_S = 60.0
"""How long traces are awaited once the profiler was stopped."""
POLL_S = 1.0
STILL = 3
"""Looks in a row at which nothing grew, after which a trace counts as written."""
ENOUGH_WAITING = 10
"""The same where ranks are missing, or their number is not known: they will not write any more."""


@dataclass(frozen=True)
class Folders:
    """Where each host writes its traces, by its label, and the hosts that cannot be looked at, in sentences."""

    of_host: dict[str, TraceFolder]
    remarks: tuple[str, ...] = ()

    def listed(self) -> list[tuple[str, TraceFile]]:
        """Every trace with its host. Raises ToolError."""
        return [(host, file) for host, folder in self.of_host.items() for file in folder.files()]

    def clear(self) -> list[str]:
        """Takes away what was written there; what could not be is said in sentences."""
        left = []
        for folder in self.of_host.values():
            try:
                folder.remove([file.name for file in folder.files()])
            except ToolError as error:
                left.append(f"traces were left behind: {error}")
        return left


def folders_on(target: LiveTarget, path: str) -> Folders:
    """The same folder on every host. Raises ToolError where no host can be looked at."""
    found: dict[str, TraceFolder] = {}
    failed: list[str] = []
    for label in target.hosts:
        try:
            host = target.live_host(label)
        except ToolError as error:
            failed.append(f"{label} was not looked at: {error}")
            continue
        found[label] = TraceFolder(host.link, path, _container(target, label))
    if not found:
        raise ToolError("; ".join(failed) or "no host can be looked at")
    return Folders(found, tuple(failed))


class Profiler:
    """The server's profiler. `expected` is how many traces there will be, None where that is not known."""

    def __init__(self, control: Control, folders: Folders, path: str, expected: int | None) -> None:
        self.remarks: list[str] = []
        self._control, self._folders, self._path, self._expected = control, folders, path, expected

    def run(self, steps: int, limit_s: float) -> None:
        """Has `steps` forwards traced. Raises ToolError where no trace was written in time."""
        try:
            self._start(steps)
            if self._written(limit_s):
                return
        except BaseException:
            self._stop()
            raise
        self._stop()
        if not self._written(WRITE_S):
            raise ToolError(
                f"no trace was written within {limit_s + WRITE_S:.0f} s: no forward may have run, or the server writes "
                f"elsewhere than to {self._path}"
            )
        self.remarks.append(f"{steps} forwards took longer than {limit_s:g} s, so that fewer were traced")

    def _start(self, steps: int) -> None:
        answer = self._control.ask(
            "POST", "/start_profile", profile_body(self._path, steps), admin=True, timeout_s=START_S
        )
        match answer.status:
            case 200:
                return
            case 404 | 405:
                raise NotRecorded("/start_profile does not exist on this server")
            case 401 | 403:
                raise ToolError("/start_profile wants a key: put it into SGLANG_ADMIN_API_KEY")
            case _:
                said = " ".join(answer.text[:160].split())
                raise ToolError(f"/start_profile answered {answer.status}: {said}")

    def _stop(self) -> None:
        """Ends a profile under way. A server that has none says so with an error, which is as good."""
        try:
            self._control.ask("POST", "/stop_profile", admin=True, timeout_s=STOP_S)
        except Unreachable as error:
            self.remarks.append(f"/stop_profile got no answer: {error}")

    def _written(self, limit_s: float) -> bool:
        """Waits until all traces are there and do not grow any more; false where there is none by then."""
        until = time.monotonic() + limit_s
        before: list[tuple[str, TraceFile]] = []
        still = 0
        while True:
            now = self._folders.listed()
            still = still + 1 if now == before else 0
            before = now
            complete = self._expected is not None and len(now) >= self._expected
            if now and still >= (STILL if complete else ENOUGH_WAITING):
                self._count(len(now))
                return True
            if time.monotonic() >= until:
                return bool(now) and still >= STILL
            time.sleep(POLL_S)

    def _count(self, written: int) -> None:
        if self._expected is not None and written < self._expected:
            self.remarks.append(f"{written} of {self._expected} ranks wrote a trace")


def refuse_second(lines: Iterable[bytes]) -> None:
    """Raises ToolError where the log's last word is of a profiler that was started: a second one would spoil the
    first, and ends the scheduler of some versions."""
    running = False
    for line in lines:
        if b"Profiling starts" in line:
            running = True
        elif b"Profiling done" in line or b"server_args=" in line:
            running = False
    if running:
        raise ToolError("a profiler runs on this server already, by its log: wait for it, or POST /stop_profile")


def expected_traces(sizes: Sequence[int | None], *, stages_named: bool | None) -> int | None:
    """How many traces will be written, out of tp, pp and dp; None where that cannot be told, as where stages write over
    each other's."""
    tp, pp, dp = sizes
    if tp is None or pp is None or dp is None or stages_named is None:
        return None
    if stages_named:
        return tp * pp * dp
    return tp * dp if pp == 1 else None


def environment(target: LiveTarget, label: str) -> Mapping[str, str]:
    """The server's environment variables on a host; empty where they cannot be seen."""
    try:
        return target.live_host(label).server.launcher.env
    except PpagentError:  # what cannot be seen is not known to forbid anything
        return {}


def _container(target: LiveTarget, label: str) -> str:
    try:
        return target.live_host(label).server.container
    except PpagentError:  # the server's process cannot be seen from here, so it is looked for on the host itself
        return ""
