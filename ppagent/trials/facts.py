"""A trial's result as a fact: the row of `trial.comparisons` that causes read."""

from collections.abc import Sequence

from ppagent.causes.cause import Change
from ppagent.evidence.evidence import FactValue
from ppagent.model.forecast import Forecast
from ppagent.trials.live import Outcome
from ppagent.trials.noise import Comparison


def causes_of(outcome: Outcome) -> tuple[str, ...]:
    """The cause that a slot limit is to cure: empty slots where it is lowered, a queue where it is raised."""
    return ("PP001",) if outcome.new < outcome.old else ("PP003",)


def flag_of(key: str) -> str:
    """The launch flag of a live key."""
    return "--" + key.replace("_", "-")


def comparison_row(
    change: Change,
    comparison: Comparison,
    *,
    causes: Sequence[str],
    concurrency: int | None,
    forecast: Forecast | None,
    outputs: str,
    old: int | None = None,
) -> dict[str, FactValue]:
    """One measured comparison."""
    unset: list[FactValue] = list(change.unset)
    named: list[FactValue] = list(causes)
    row: dict[str, FactValue] = {
        "set": dict(change.set),
        "unset": unset,
        "env": dict(change.env),
        "before": round(comparison.before, 3),
        "after": round(comparison.after, 3),
        "noise_share": round(comparison.noise_share, 4),
        "gain_low_share": round(comparison.low_share, 4),
        "gain_high_share": round(comparison.high_share, 4),
        "outcome": comparison.outcome,
        "why": comparison.why,
        "causes": named,
        "outputs": outputs,
    }
    if old is not None:
        row["old"] = old
    if concurrency is not None:
        row["concurrency"] = concurrency
    if forecast is not None:
        row["forecast_low"], row["forecast_high"] = round(forecast.low, 3), round(forecast.high, 3)
    return row


def live_row(outcome: Outcome, concurrency: int | None) -> dict[str, FactValue]:
    """The row of a live trial. A forecast of tokens a second says nothing of the speed of one request."""
    row = comparison_row(
        Change({flag_of(outcome.key): str(outcome.new)}),
        outcome.comparison,
        causes=causes_of(outcome),
        concurrency=concurrency,
        forecast=outcome.forecast if outcome.unit == "tok/s" else None,
        outputs=outcome.outputs,
        old=outcome.old,
    )
    left = next((phase.unsettled for phase in outcome.phases if phase.unsettled), "")
    return {**row, "unit": outcome.unit, **({"unsettled": left} if left else {})}
