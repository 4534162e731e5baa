"""The live experiment: old setting, new setting, old setting again, under one unbroken load.

Where noise hides the answer it goes on, new and old in turn, until it can be told or the rounds are used up.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from ppagent.model.forecast import Forecast
from ppagent.trials.change import LiveChange, never_left_behind
from ppagent.trials.noise import MATTERS, Comparison
from ppagent.trials.outputs import OutputCheck, Sameness, sameness
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.phase import Meter, Phase
from ppagent.trials.rounds import ROUNDS, Rounds, comparable_samples, lasting

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
    round_s: float = 0.0
    """How long a round took, settling included."""
    measured_s: float = 0.0
    """How long each measurement was to be."""

    @property
    def rounds(self) -> int:
        """How often the new setting was measured."""
        return len(self.phases) // 2


def run_live(
    change: LiveChange,
    meter: Meter,
    *,
    seconds: float,
    rounds: int = ROUNDS,
    margin: float = MATTERS,
    foresee: Foresee | None = None,
    check: OutputCheck | None = None,
    say: Say = lambda sentence: None,
) -> Outcome:
    """Runs the experiment and puts the old value back whatever happens; at most `rounds` times, until a difference of
    `margin` or more can be told from none. Raises ToolError where it cannot be finished;
    the server is as it was then too, or the error says that it is not (NotRestored)."""
    begin = time.monotonic()
    forecast, note = None, "no forecast was asked for"
    if rounds < 1:
        raise ValueError("a trial has one round or more")
    run = Rounds(change, meter, seconds, check, say)
    with _ended_after(meter), never_left_behind(change):
        meter.start()
        first = run.first()
        if foresee is not None:
            forecast, note = foresee(first)
            say(_told(forecast, note))
        found = run.go(rounds, margin)
    spent = time.monotonic() - begin
    return replace(_outcome(run, found), forecast=forecast, forecast_note=note, seconds=spent)


@contextmanager
def _ended_after(meter: Meter) -> Iterator[None]:
    """Ends the traffic once the setting is back: every answer is waited for, unless something went wrong."""
    try:
        yield
    except BaseException:
        meter.stop(wait=False)
        raise
    meter.stop(wait=True)


def _outcome(run: Rounds, comparison: Comparison) -> Outcome:
    """What there is to tell, but for the forecast."""
    change, meter, check = run.change, run.meter, run.check
    answers = check.answers if check is not None else {}
    same, why = sameness(answers.get("A twice", ()), answers.get("A again", ()), answers.get("B", ()))
    own = meter if isinstance(meter, OwnLoad) else None
    return Outcome(
        key=change.state.key,
        old=change.state.value,
        new=change.new,
        traffic=meter.describes,
        phases=tuple(run.phases),
        comparison=comparison,
        unit=comparable_samples(meter, run.phases)[1],
        forecast=None,
        forecast_note="",
        outputs=same,
        outputs_note=why if check is not None else "answers were not compared",
        in_flight_at_change=len(own.at_change) if own else 0,
        lost=len(own.lost) if own else 0,
        restored=True,
        remarks=((*own.remarks,) if own else ()) + lasting(comparable_samples(meter, run.phases)),
        round_s=run.round_s,
        measured_s=run.seconds,
    )


def _told(forecast: Forecast | None, note: str) -> str:
    if forecast is None:
        return f"no forecast: {note}"
    regime = f"; {forecast.regime}" if forecast.regime else ""
    return f"forecast: {forecast.low:.4g}-{forecast.high:.4g} tok/s (now {forecast.baseline:.4g}){regime}"
