"""Whether a difference is one: two settings, each measured once or twice, and a band that noise alone explains.

The band is the largest of three: what two runs of one setting usually differ by, three standard errors of the
difference, and how far the runs of the old setting lay apart (drift). A gain within a band of at most 5 % is "no
difference"; within a wider one nothing can be told, since a difference that matters could hide in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.ledger import Outcome

USUAL = 0.03
"""Two runs of a level on one server differ by 2-3 %."""
MATTERS = 0.05
SIGMAS = 3.0
UNKNOWN_ERROR = 0.10
"""Taken for a run too short to show its own scatter."""


@dataclass(frozen=True)
class Sample:
    """One measurement of one setting; `error_share` is one standard error, None where it is unknown."""

    value: float
    error_share: float | None


@dataclass(frozen=True)
class Comparison:
    """The verdict. `before` and `after` are in the unit that was measured, more being better."""

    before: float
    after: float
    noise_share: float
    outcome: Outcome
    why: str

    @property
    def gain_share(self) -> float:
        """0.87 for 87 % more."""
        return self.after / self.before - 1


def compare(before: Sequence[Sample], after: Sequence[Sample]) -> Comparison:
    """Compares two settings. Raises ValueError where one was not measured."""
    if not before or not after or any(sample.value <= 0 for sample in (*before, *after)):
        raise ValueError("both settings must have been measured")
    old, new = _mean(before), _mean(after)
    drift = max(abs(sample.value / old - 1) for sample in before) * 2 if len(before) > 1 else 0.0
    scatter = SIGMAS * math.hypot(_error(before), _error(after))
    band = max(USUAL, scatter, drift)
    gain = new / old - 1
    outcome, why = _verdict(gain, band, _named(band, scatter, drift))
    return Comparison(old, new, band, outcome, why)


def _verdict(gain: float, band: float, source: str) -> tuple[Outcome, str]:
    if gain > band:
        return "better", f"{gain:+.0%}, noise {band:.1%} ({source})"
    if gain < -band:
        return "worse", f"{gain:+.0%}, noise {band:.1%} ({source})"
    if band <= MATTERS:
        return "no difference", f"{gain:+.1%} is within the noise of {band:.1%} ({source})"
    return "cannot tell", f"{gain:+.1%} is within the noise of {band:.1%} ({source}), which could hide a difference"


def _named(band: float, scatter: float, drift: float) -> str:
    if band == USUAL:
        return "what two runs of one setting usually differ by"
    return "the runs' own scatter" if scatter >= drift else "the old setting's two runs lie that far apart"


def _mean(samples: Sequence[Sample]) -> float:
    return math.fsum(sample.value for sample in samples) / len(samples)


def _error(samples: Sequence[Sample]) -> float:
    """Standard error of the mean of the samples, as a share."""
    errors = [UNKNOWN_ERROR if sample.error_share is None else sample.error_share for sample in samples]
    return math.sqrt(math.fsum(error * error for error in errors)) / len(samples)
