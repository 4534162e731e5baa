"""How sure one look of several may be, and how much more measuring would decide a trial that could not tell."""

import math
from dataclasses import dataclass

from ppagent.trials.student import t_quantile

CONFIDENCE = 0.95
MOST_ROUNDS_FORESEEN = 50
USUAL_ROUNDS = 4
"""What is foreseen where one round was allowed, which shows no scatter between whole measurements yet."""
SURE = 1.28
"""Standard errors that the next run's gain may lie off on one side, so that it is told four times out of five or more:
what was seen is not quite what will be seen."""


@dataclass(frozen=True)
class Seen:
    """What a comparison saw: the log of the gain, one standard error of it, and how well that is known."""

    gain: float
    error: float
    df: int
    rounds: int


@dataclass(frozen=True)
class More:
    """What would decide: a run of up to `rounds` rounds, each measurement `times` as long as those that were taken."""

    rounds: int
    times: float

    def seconds(self, measured_s: float) -> int:
        """How long to measure, none shorter than before; in steps of five seconds."""
        return 5 * math.ceil(max(1.0, self.times) * measured_s / 5)


def confidence(look: int, looks: int) -> float:
    """What one look of several may claim: their shares of the error, by the square of their number, add up to it."""
    looks = max(look, looks)
    return 1 - (1 - CONFIDENCE) * look**2 / sum(each**2 for each in range(1, looks + 1))


def rounds_more(seen: Seen, looks: int, margin: float) -> int | None:
    """Rounds until the interval is narrow enough for one verdict or the other, should the rest go on as it began."""
    for total in range(seen.rounds + 1, MOST_ROUNDS_FORESEEN + 1):
        if _half(seen, total, looks, 0.0) < _wanted(seen, margin):
            return total - seen.rounds
    return None


def longer(seen: Seen, looks: int, margin: float) -> More:
    """How much longer measurements would decide in as many rounds as were allowed: the error falls with the square root
    of the time."""
    rounds = max(looks, seen.rounds)
    rounds = rounds if rounds > 1 else USUAL_ROUNDS
    return More(rounds, (_half(seen, rounds, rounds, SURE) / _wanted(seen, margin)) ** 2)


def _wanted(seen: Seen, margin: float) -> float:
    """Half the width of an interval that leaves one verdict."""
    gain = abs(seen.gain)
    return max(gain, math.log1p(margin) - gain)


def _half(seen: Seen, rounds: int, looks: int, beyond: float) -> float:
    """Half the width that the interval will have after `rounds`, and `beyond` so many standard errors more."""
    error = seen.error * math.sqrt(_spread(rounds) / _spread(seen.rounds))
    return error * (t_quantile(confidence(rounds, looks), max(seen.df, 2 * rounds - 2)) + beyond)


def _spread(rounds: int) -> float:
    return 1 / rounds + 1 / (rounds + 1)
