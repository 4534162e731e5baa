"""The live experiment: old setting, new setting, old setting again, under one unbroken load."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ppagent.model.forecast import Forecast
from ppagent.trials.change import LiveChange, never_left_behind
from ppagent.trials.noise import Comparison, Sample, compare
from ppagent.trials.observed import samples
from ppagent.trials.outputs import OutputCheck, Sameness, sameness
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.phase import Meter, Phase

Say = Callable[[str], None]


class Foresee(Protocol):
    """Makes the forecast out of the first phase, before anything is changed; None where it cannot, with the reason."""

    def __call__(self, first: Phase) -> tuple[Forecast | None, str]: ...


@dataclass(frozen=True)
class Outcome:
    """What a trial came to."""

    key: str
    old: int
    new: int
    traffic: str
    phases: tuple[Phase, ...]
    comparison: Comparison
    unit: str
    forecast: Forecast | None
    forecast_note: str
    outputs: Sameness
    outputs_note: str
    in_flight_at_change: int
    lost: int
    """Requests in flight at a change that got no whole answer."""
    restored: bool
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


def run_live(
    change: LiveChange,
    meter: Meter,
    *,
    seconds: float,
    foresee: Foresee | None = None,
    check: OutputCheck | None = None,
    say: Say = lambda sentence: None,
) -> Outcome:
    """Runs the experiment and puts the old value back whatever happens. Raises ToolError where it cannot be finished;
    the server is as it was then too, or the error says that it is not (NotRestored)."""
    begin = time.monotonic()
    key, old, new = change.state.key, change.state.value, change.new
    forecast, note = None, "no forecast was asked for"
    phases: list[Phase] = []
    with _ended_after(meter), never_left_behind(change):
        meter.start()
        phases.append(_phase(meter, "A", f"{key} {old}", seconds, check, say, twice=True))
        if foresee is not None:
            forecast, note = foresee(phases[0])
            say(_told(forecast, note))
        meter.note_change()
        change.make()
        say(f"{key} is {new} now, read back")
        phases.append(_phase(meter, "B", f"{key} {new}", seconds, check, say))
        meter.note_change()
        change.take_back()
        say(f"{key} is back at {old}, read back")
        phases.append(_phase(meter, "A again", f"{key} {old}", seconds, check, say))
    return _outcome(change, meter, phases, forecast, note, check, time.monotonic() - begin)


@contextmanager
def _ended_after(meter: Meter) -> Iterator[None]:
    """Ends the traffic once the setting is back: every answer is waited for, unless something went wrong."""
    try:
        yield
    except BaseException:
        meter.stop(wait=False)
        raise
    meter.stop(wait=True)


def _phase(
    meter: Meter, label: str, setting: str, seconds: float, check: OutputCheck | None, say: Say, *, twice: bool = False
) -> Phase:
    """Settles, asks for the answers to compare meanwhile, and measures."""
    say(f"{label}: {setting}, waiting for requests to turn over")
    if check is not None:
        check.ask(label)
        if twice:
            check.ask(f"{label} twice")
    settled = meter.settle()
    say(f"{label}: settled ({settled}), measuring for {seconds:.0f} s")
    phase = meter.measure(label, seconds)
    say(f"{label}: {phase.tokens_per_s:.4g} tok/s")
    return phase


def _outcome(
    change: LiveChange,
    meter: Meter,
    phases: list[Phase],
    forecast: Forecast | None,
    note: str,
    check: OutputCheck | None,
    seconds: float,
) -> Outcome:
    comparable, unit = _samples(meter, phases)
    answers = check.answers if check is not None else {}
    same, why = sameness(answers.get("A twice", ()), answers.get("A again", ()), answers.get("B", ()))
    own = meter if isinstance(meter, OwnLoad) else None
    return Outcome(
        key=change.state.key,
        old=change.state.value,
        new=change.new,
        traffic=meter.describes,
        phases=tuple(phases),
        comparison=compare([comparable[0], comparable[2]], [comparable[1]]),
        unit=unit,
        forecast=forecast,
        forecast_note=note,
        outputs=same,
        outputs_note=why if check is not None else "answers were not compared",
        in_flight_at_change=len(own.at_change) if own else 0,
        lost=len(own.lost) if own else 0,
        restored=True,
        remarks=own.remarks if own else (),
        seconds=seconds,
    )


def _samples(meter: Meter, phases: list[Phase]) -> tuple[list[Sample], str]:
    if isinstance(meter, OwnLoad):
        return [phase.sample for phase in phases], "tok/s"
    return samples(phases)


def _told(forecast: Forecast | None, note: str) -> str:
    if forecast is None:
        return f"no forecast: {note}"
    return f"forecast: {forecast.low:.4g}-{forecast.high:.4g} tok/s (now {forecast.baseline:.4g}); {forecast.regime}"
