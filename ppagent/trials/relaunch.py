"""The experiment with a restart: measure, stop, start with the new launch, measure, keep it or bring the old one back.

Until the end is settled, the old launch lies on the host and a note of it on this machine. Whatever goes wrong once the
old server was stopped, the old launch is started again.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ppagent.errors import ToolError
from ppagent.trials.machine import Keeper, Launched, Started
from ppagent.trials.noise import RESTART_MATTERS, Comparison, compare
from ppagent.trials.note import RestoreNote, give_up, remove_note, write_note
from ppagent.trials.outputs import OutputCheck, Sameness, sameness
from ppagent.trials.phase import Meter, Phase
from ppagent.trials.signals import signals_as_interrupts, signals_put_off
from ppagent.trials.watch import CameUp, StartFailed, wait_until_ready

Keep = Literal["better", "always", "never"]
Say = Callable[[str], None]
STOP_PATIENCE_S = 60.0
ITSELF_S = 4.0


@dataclass(frozen=True)
class Site:
    """The server on its host: what is needed to stop it, start it, and know that it serves."""

    name: str
    machine: Keeper
    pid: int
    launched: Launched
    target: str
    """What the user named, for whoever brings the old server back later."""
    answers: Callable[[], bool]
    """Whether the server answers over HTTP."""
    folder: Path | None = None
    """Of this machine's data; None for the usual one."""


@dataclass(frozen=True)
class RelaunchOutcome:
    """What it came to. `comparison` is None where the new server never served."""

    phases: tuple[Phase, ...]
    comparison: Comparison | None
    kept: bool
    failure: str
    """Why the new server did not come up; empty where it did."""
    outputs: Sameness
    outputs_note: str
    start_s: float | None
    seconds: float
    remarks: tuple[str, ...] = ()


@dataclass
class _Run:
    """Where the experiment stands."""

    site: Site
    say: Say
    start_limit_s: float
    serving: Started | None = None
    """The server that was started by us; None while the old one has not been touched."""
    untouched: bool = True
    kept: bool = False
    remarks: list[str] = field(default_factory=list)


def run_relaunch(
    site: Site,
    meters: Callable[[], Meter],
    *,
    seconds: float,
    start_limit_s: float,
    keep: Keep = "better",
    check: OutputCheck | None = None,
    say: Say = lambda sentence: None,
) -> RelaunchOutcome:
    """Runs it. `meters` makes a new meter for each server. Raises ToolError where even the old server does not come
    back; a new one that does not come up is an outcome, not an error."""
    begin = time.monotonic()
    run = _Run(site, say, start_limit_s)
    before = _measured("before", meters(), seconds, check, say, twice=True)
    failure, came_up, after = "", None, None
    with _old_brought_back(run):
        _stop(run, site.pid)
        try:
            came_up = _start(run, "new")
            after = _measured("after", meters(), seconds, check, say)
        except StartFailed as error:
            failure = str(error)
            say(f"the new server did not come up: {failure}")
        comparison = None if after is None else compare([before.sample], [after.sample], margin=RESTART_MATTERS)
        run.kept = comparison is not None and _keeps(keep, comparison)
    same, why = _answers(check, after)
    phases = (before, after) if after is not None else (before,)
    start_s = came_up.seconds if came_up is not None else None
    spent = time.monotonic() - begin
    return RelaunchOutcome(phases, comparison, run.kept, failure, same, why, start_s, spent, tuple(run.remarks))


def _answers(check: OutputCheck | None, after: Phase | None) -> tuple[Sameness, str]:
    """Whether answers stayed the same over the restart."""
    if check is None or after is None:
        return "cannot tell", "answers were not compared"
    given = check.answers
    return sameness(given["before twice"], given["before"], given["after"])


@contextmanager
def _old_brought_back(run: _Run) -> Iterator[None]:
    """On every way out, but with the new server kept, the old launch serves; the note goes only once it does."""
    site = run.site
    launch = {"folder": site.launched.folder, "target": site.target, **site.machine.note()}
    write_note(RestoreNote("relaunch", site.name, launch=launch), site.folder)
    with signals_as_interrupts():
        try:
            yield
        finally:
            with signals_put_off():
                if run.kept:
                    site.machine.keep()
                    run.remarks += [site.launched.left] if site.launched.left else []
                elif not run.untouched:
                    _back(run)
                remove_note(site.name, site.folder)


def _back(run: _Run) -> None:
    run.say("bringing the old launch back")
    try:
        if run.serving is not None:
            _stop(run, run.serving.pid)
        _start(run, "old")
    except (ToolError, KeyboardInterrupt) as error:
        with suppress(ToolError):  # the note stays as it was, and is nobody's once this process has ended
            give_up(run.site.name, run.site.folder)
        if isinstance(error, KeyboardInterrupt) or run.untouched:
            raise
        raise ToolError(
            f"the old server does NOT serve: {error}. What was kept of it is in {run.site.launched.folder} "
            f"on {run.site.machine.link.name}; try again with: ppagent try {run.site.target} --restore"
        ) from error
    run.say("the old launch serves again")


def _stop(run: _Run, pid: int) -> None:
    run.untouched = False
    run.say(f"stopping process {pid}" if pid > 0 else "stopping what is left of it")
    stopped = run.site.machine.stop(pid, STOP_PATIENCE_S)
    run.serving = None
    if stopped.killed:
        what = "1 process" if stopped.killed == 1 else f"{stopped.killed} processes"
        run.remarks.append(f"{what} had to be made to end after {STOP_PATIENCE_S:.0f} s")
    time.sleep(ITSELF_S)
    if run.site.answers():
        run.untouched = True  # whoever started it again is in charge of it, and did bring it back
        raise ToolError("something starts the server again by itself, so it has to be relaunched where that is set up")


def _start(run: _Run, which: str) -> CameUp:
    run.say(f"starting the {which} launch")
    run.serving = run.site.machine.start(run.site.launched.folder, which)
    return wait_until_ready(run.site.machine, run.serving, run.start_limit_s, run.site.answers, run.say)


def _measured(
    label: str, meter: Meter, seconds: float, check: OutputCheck | None, say: Say, *, twice: bool = False
) -> Phase:
    say(f"measuring {label}: {meter.describes}")
    done = False
    try:
        meter.start()
        if check is not None:
            check.ask(label)
            if twice:
                check.ask(f"{label} twice")
        say(f"{label}: settled ({meter.settle()})")
        phase = meter.measure(label, seconds)
        done = True
    finally:
        meter.stop(wait=done)
    say(f"{label}: {phase.tokens_per_s:.4g} tok/s")
    return phase


def _keeps(keep: Keep, comparison: Comparison) -> bool:
    match keep:
        case "always":
            return True
        case "never":
            return False
        case "better":
            return comparison.outcome == "better"
