"""The line through measured turns, T = base + per_request * x, with how sure its two constants are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Two runs of the same level differ by about this share of the turn; a fit is never surer than that.
NOISE = 0.02


@dataclass(frozen=True)
class Line:
    """`base_ms` is what every turn costs (weights that each step reads, launches, hops), `per_request_ms` what each
    request more in a slot adds (experts it wakes, its KV). Errors are one standard error.

    `worst_residual` is the largest distance of a level from the line as a share of its turn.
    """

    base_ms: float
    per_request_ms: float
    base_err_ms: float
    per_request_err_ms: float
    covariance: float
    worst_residual: float

    def turn_ms(self, batch: float) -> float:
        """Turn of the ring with `batch` requests in a slot."""
        return self.base_ms + self.per_request_ms * batch

    def turn_err_ms(self, batch: float) -> float:
        """Standard error of `turn_ms(batch)`."""
        variance = self.base_err_ms**2 + (batch * self.per_request_err_ms) ** 2 + 2 * batch * self.covariance
        return math.sqrt(max(variance, 0.0))


def fit_line(batches: Sequence[float], turns_ms: Sequence[float]) -> Line | None:
    """Least squares through `turns_ms` over requests a slot; None where fewer than two different batches are given.

    With two points the errors rest on NOISE alone, with more on the larger of NOISE and the scatter.
    """
    count = len(batches)
    if len(set(batches)) < 2 or count != len(turns_ms):
        return None
    mean_x, mean_y = math.fsum(batches) / count, math.fsum(turns_ms) / count
    spread = math.fsum((x - mean_x) ** 2 for x in batches)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(batches, turns_ms, strict=True)) / spread
    base = mean_y - slope * mean_x
    residuals = [y - base - slope * x for x, y in zip(batches, turns_ms, strict=True)]
    scatter = math.fsum(value * value for value in residuals) / (count - 2) if count > 2 else 0.0
    variance = max(scatter, (NOISE * mean_y) ** 2)
    return Line(
        base_ms=base,
        per_request_ms=slope,
        base_err_ms=math.sqrt(variance * (1 / count + mean_x**2 / spread)),
        per_request_err_ms=math.sqrt(variance / spread),
        covariance=-variance * mean_x / spread,
        worst_residual=max(abs(value) / turn for value, turn in zip(residuals, turns_ms, strict=True)),
    )
