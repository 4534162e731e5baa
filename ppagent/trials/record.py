"""Keeps a trial's forecast before anything is changed, and what was measured of it after."""

from dataclasses import dataclass, field

from ppagent.errors import ToolError
from ppagent.ledger import Forecasted, Measured, new_id, now, record_forecast, record_measured
from ppagent.model.forecast import Forecast
from ppagent.targets.remote.asking import tell
from ppagent.trials.limit import LimitState
from ppagent.trials.live import Foresee, Outcome
from ppagent.trials.noise import Comparison
from ppagent.trials.phase import Phase
from ppagent.trials.proposals import Proposed


@dataclass
class RecordedForesight:
    """A forecast that is on the record before the change is made: nobody can adjust it afterwards."""

    foresee: Foresee
    server: str
    state: LimitState
    new: int
    id: str = field(default_factory=new_id)
    made: Forecast | None = None

    def __call__(self, first: Phase) -> tuple[Forecast | None, str]:
        self.made, note = self.foresee(first)
        if self.made is not None:
            record_forecast(_entry(self))
        return self.made, note


def record_outcome(recorded: RecordedForesight, outcome: Outcome) -> None:
    """Notes what became of the forecast; nothing where there was none, or where the speed of one request was compared,
    which it does not speak of."""
    if outcome.unit == "tok/s":
        measured_forecast(recorded.id if recorded.made is not None else "", outcome.comparison)


def recorded_forecast(server: str, version: str, proposed: Proposed, concurrency: int | None) -> str:
    """Puts a proposal's forecast on record; its id, empty where there is none for this load."""
    made, change = proposed.predicted, proposed.change
    if made is None or made.at_concurrency != concurrency:
        return ""
    entry = Forecasted(
        id=new_id(),
        at=now(),
        server=server,
        version=version,
        change={**change.set, **dict.fromkeys(change.unset, "unset"), **change.env},
        metric=made.metric,
        concurrency=made.at_concurrency,
        baseline=made.baseline,
        low=made.low,
        high=made.high,
    )
    record_forecast(entry)
    return entry.id


def measured_forecast(forecast_id: str, comparison: Comparison | None) -> None:
    """Notes what became of a forecast; nothing where there was none, or nothing was measured. A disk that takes no more
    costs the note, which is told, and not what was measured."""
    if not forecast_id or comparison is None:
        return
    noise = round(comparison.noise_share, 4)
    try:
        record_measured(Measured(forecast_id, now(), comparison.before, comparison.after, noise, comparison.outcome))
    except ToolError as error:
        tell(f"what was measured is not noted beside its forecast: {error}")


def _entry(recorded: RecordedForesight) -> Forecasted:
    made, state = recorded.made, recorded.state
    if made is None:
        raise AssertionError("called only where a forecast was made")
    return Forecasted(
        id=recorded.id,
        at=now(),
        server=recorded.server,
        version=state.version,
        change={state.key: str(recorded.new)},
        metric=made.metric,
        concurrency=made.at_concurrency,
        baseline=round(made.baseline, 3),
        low=round(made.low, 3),
        high=round(made.high, 3),
    )
