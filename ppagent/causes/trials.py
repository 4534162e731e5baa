"""A cure that was tried and measured: what it says of the cause that it was to cure.

An experiment is the strongest witness there is. A cure that worked as forecast speaks for its cause; one that did
nothing speaks against it, however good the theory was.
"""

import math
from collections.abc import Mapping

from ppagent.causes.cause import Observation
from ppagent.evidence.digits import whole_number
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

SLOT_LIMIT_FLAGS = ("--pp-max-micro-batch-size", "--max-micro-batch-size")
SURE_NOISE = 0.05
"""A band wider than this could hide a gain that matters, so nothing within it counts against a cause, unless the
forecast lies beyond it."""
FAR_BELOW = 0.9
"""Below this share of the forecast's low end a gain is another one than the cause foretold."""


def trial_observations(cause_id: str, facts: Facts) -> tuple[Observation, ...]:
    """What every measured comparison says of a cause; empty where none was made for it."""
    rows = [row for row in facts.items("trial.comparisons") if isinstance(row, dict)]
    cites = facts.cite("trial.comparisons")
    found = (_observed(row, cites) for row in rows if cause_id in _causes(row))
    return tuple(observation for observation in found if observation is not None)


def _causes(row: Mapping[str, FactValue]) -> tuple[str, ...]:
    """The causes that the change was to cure: as the row names them, else by the setting."""
    named = row.get("causes")
    if isinstance(named, list) and named:
        return tuple(str(cause) for cause in named)
    change = row.get("set")
    limit = [value for flag, value in change.items() if flag in SLOT_LIMIT_FLAGS] if isinstance(change, dict) else []
    if not limit:
        return ()
    old, new = _number(row.get("old")), _number(limit[0])
    return ("PP003",) if old is not None and new is not None and new > old else ("PP001",)


def _observed(row: Mapping[str, FactValue], cites: tuple[str, ...]) -> Observation | None:
    before, after, noise = (_number(row.get(name)) for name in ("before", "after", "noise_share"))
    if before is None or after is None or noise is None or before <= 0 or after <= 0 or noise < 0 or not cites:
        return None
    gain = after / before - 1
    low, unit = _forecast(row), row.get("unit") or "tok/s"
    what = f"{_shown(row)} was tried: {before:.4g} to {after:.4g} {unit}, {gain:+.0%} ({_span(row, noise)})"
    what += _foretold(low, _number(row.get("forecast_high")))
    if gain > noise and (low is None or after >= FAR_BELOW * low):
        return Observation(f"{what}, as its cause foretold", cites, 0.9, 0.06)
    if gain > noise:
        return Observation(f"{what}, far below the forecast of {low:.4g} or more", cites, 0.5, 0.25)
    if row.get("unsettled"):
        return None
    missed = low is not None and before * (1 + gain + noise) < FAR_BELOW * low
    if gain < -noise or noise <= SURE_NOISE or missed:
        return Observation(f"{what}: the cure did not help", cites, 0.06, 0.7)
    return None


def _span(row: Mapping[str, FactValue], noise: float) -> str:
    """How sure the gain is: its interval where the row has one."""
    low, high = _number(row.get("gain_low_share")), _number(row.get("gain_high_share"))
    return f"noise {noise:.1%}" if low is None or high is None else f"between {low:+.0%} and {high:+.0%}"


def _forecast(row: Mapping[str, FactValue]) -> float | None:
    low = _number(row.get("forecast_low"))
    return low if low is not None and low > 0 else None


def _foretold(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f", forecast {low:.4g}-{high:.4g}"


def _shown(row: Mapping[str, FactValue]) -> str:
    change = row.get("set")
    pairs = [f"{flag} {value}" for flag, value in change.items()] if isinstance(change, dict) else []
    dropped = row.get("unset")
    pairs += [f"without {flag}" for flag in dropped] if isinstance(dropped, list) else []
    variables = row.get("env")
    pairs += [f"{name}={value}" for name, value in variables.items()] if isinstance(variables, dict) else []
    return ", ".join(pairs) or str(row.get("what") or "a change")


def _number(value: object) -> float | None:
    """A finite number, however a row of somebody else's writes it."""
    if isinstance(value, bool):
        return None
    number = whole_number(value) if isinstance(value, str) else value
    if not isinstance(number, int | float):
        return None
    try:
        return float(number) if math.isfinite(number) else None
    except OverflowError:  # a whole number beyond any float
        return None
