"""Keeps a trial's forecast before anything is changed, and what was measured of it after."""

from dataclasses import dataclass, field

from ppagent.ledger import Forecasted, Measured, new_id, now, record_forecast, record_measured
from ppagent.model.forecast import Forecast
from ppagent.trials.limit import LimitState
from ppagent.trials.live import Foresee, Outcome
from ppagent.trials.phase import Phase


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
    """Notes what became of the forecast; nothing where there was none."""
    if recorded.made is None:
        return
    comparison = outcome.comparison
    record_measured(
        Measured(
            recorded.id,
            now(),
            comparison.before,
            comparison.after,
            round(comparison.noise_share, 4),
            comparison.outcome,
        )
    )


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
