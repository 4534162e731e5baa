"""Percentiles and spreads, as bench_serving takes them (linear interpolation, population deviation)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_STRETCHES = 3


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which `percent` of `values` lie, interpolated; 0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    if low + 1 >= len(ordered):
        return ordered[-1]
    return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])


def error_share(values: Sequence[float]) -> float | None:
    """One standard error of the mean of equal stretches, as a share of it; None where they are too few to tell, or all
    nothing."""
    if len(values) < FEWEST_STRETCHES:
        return None
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values)) / mean if mean else None


@dataclass(frozen=True)
class Spread:
    """A quantity over the requests (or tokens) of a level, in ms."""

    count: int
    mean: float
    median: float
    std: float
    p90: float
    p95: float
    p99: float
    max: float

    def fields(self, name: str) -> dict[str, float | None]:
        """Under bench_serving's field names: `mean_ttft_ms`, `p99_ttft_ms`, ...; None where nothing was measured."""
        values = {
            "mean": self.mean,
            "median": self.median,
            "std": self.std,
            "p90": self.p90,
            "p95": self.p95,
            "p99": self.p99,
        }
        return {
            f"{statistic}_{name}_ms": round(value, 3) if self.count else None for statistic, value in values.items()
        }


def spread_ms(seconds: Sequence[float]) -> Spread:
    """The spread of times given in seconds; zeros for none."""
    if not seconds:
        return Spread(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    values = sorted(1000 * value for value in seconds)
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    p50, p90, p95, p99 = (percentile(values, percent) for percent in (50, 90, 95, 99))
    return Spread(len(values), mean, p50, math.sqrt(variance), p90, p95, p99, values[-1])
