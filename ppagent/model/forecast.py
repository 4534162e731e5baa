"""A forecast: a range with the regime it rests on, never a single number."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

# A forecast made without having seen one change on the same server is never claimed to be surer than this. Recorded
# changes of the slot limit on the real scheduler missed the middle by 6 and 7 %.
COLD_FLOOR = 0.10
# What one before/after pair on the same server leaves of the uncertainty.
CALIBRATED = 0.10


class Effect(StrEnum):
    HELPS = "helps"
    HARDLY = "changes little"
    HURTS = "hurts"
    CANNOT_TELL = "cannot be told"


@dataclass(frozen=True)
class Forecast:
    """What a change would give. `metric` uses bench_serving's field names; throughput is in output tokens a second."""

    metric: str
    at_concurrency: int
    baseline: float
    low: float
    high: float
    regime: str
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ValueError(f"a forecast runs from low to high, not from {self.low} to {self.high}")

    @property
    def middle(self) -> float:
        """Geometric middle of the range."""
        return math.sqrt(self.low * self.high)

    @property
    def effect(self) -> Effect:
        """What the range says against the baseline, a noise of 3 % allowed for."""
        if self.low > 1.03 * self.baseline:
            return Effect.HELPS
        if self.high < 0.97 * self.baseline:
            return Effect.HURTS
        if self.low > 0.90 * self.baseline and self.high < 1.10 * self.baseline:
            return Effect.HARDLY
        return Effect.CANNOT_TELL

    def predicted(self) -> dict[str, object]:
        """The `predicted` object of a proposal."""
        return {
            "metric": self.metric,
            "at": {"max_concurrency": self.at_concurrency},
            "baseline": round(self.baseline, 1),
            "low": round(self.low, 1),
            "high": round(self.high, 1),
        }

    def calibrated(self, earlier: "Forecast", measured: float) -> "Forecast":
        """This forecast after `earlier`, made by the same model on the same server, was measured.

        The model's miss is taken over, and the range becomes CALIBRATED on both sides of the corrected middle.
        """
        middle = self.middle * measured / earlier.middle
        note = f"corrected by {measured / earlier.middle - 1:+.0%} from one measured change on this server"
        return replace(
            self,
            low=middle * (1 - CALIBRATED),
            high=middle * (1 + CALIBRATED),
            assumptions=(*self.assumptions, note),
        )


def throughput_forecast(
    concurrency: int,
    baseline: float,
    candidates: Iterable[float],
    regime: str,
    assumptions: tuple[str, ...] = (),
    *,
    floor: tuple[float, float] = (COLD_FLOOR, COLD_FLOOR),
) -> Forecast:
    """The range that holds all `candidates`: one for each reading of the data and each end of its error.

    It reaches at least the shares of `floor` below and above its middle; an upper 0 says that the highest candidate is
    a bound and not an estimate.
    """
    values = sorted(candidates)
    middle = math.sqrt(values[0] * values[-1])
    low = min(values[0], middle * (1 - floor[0]))
    high = max(values[-1], middle * (1 + floor[1]))
    return Forecast("output_throughput", concurrency, baseline, low, high, regime, assumptions)


def forecast_from(document: Mapping[str, object], regime: str = "") -> Forecast:
    """The forecast in a proposal's `predicted` object, as `Forecast.predicted` wrote it."""
    at = document["at"]
    if not isinstance(at, Mapping):
        raise ValueError("`at` must name the load")
    baseline, low, high = (float(str(document[name])) for name in ("baseline", "low", "high"))
    return Forecast(str(document["metric"]), int(at["max_concurrency"]), baseline, low, high, regime)
