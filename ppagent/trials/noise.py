"""Whether a difference is one: an interval for the gain that holds the truth with 95 % confidence, and a verdict by it.

Better or worse: no gain of zero lies in the interval. No difference: all of it lies within the margin that matters, so
that this is a finding and not a lack of one. Cannot tell: anything else, with what would decide.

The two settings take turns (old, new, old, new, old, ...), so a drift of the machine is fitted and drops out, and the
scatter of whole measurements shows itself. Where it is no larger than what the scatter within each of them explains,
both are taken together; else whole measurements alone count. With one round there is no such scatter to see yet: then
what two runs of one setting usually differ by is taken for it. Looking several times would find something sooner or
later, so each look has its share of the error; a later one, which knows more, has the larger share.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ppagent.ledger import Outcome
from ppagent.trials.foreseen import CONFIDENCE, More, Seen, confidence, longer, rounds_more
from ppagent.trials.student import t_quantile

MATTERS = 0.05
RESTART_MATTERS = 0.10
"""After a restart two runs can differ by more, and no smaller gain is worth one."""
RUN_SCATTER = 0.025
"""Standard deviation between runs of one setting that their own scatter does not show: two differ by 2-3 % or more."""
EXPLAINED = 0.7
"""Below this share of what their own scatter explains, whole measurements show no scatter of their own."""
ONE_ROUND_DF = 3
"""How well the scatter between runs is known after one round of turns, being guessed: that decides large gains only."""
UNKNOWN_ERROR = 0.10
"""Taken for a run too short to show its own scatter."""
UNKNOWN_DF = 4


@dataclass(frozen=True)
class Sample:
    """One measurement of one setting. `error_share` is one standard error, None where it is unknown; `blocks` are the
    values of equal parts of it, as many as there are."""

    value: float
    error_share: float | None
    blocks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The verdict. `before` and `after` are in the unit that was measured, more being better."""

    before: float
    after: float
    noise_share: float
    """Half the width of the interval, as a share."""
    outcome: Outcome
    why: str
    low_share: float = 0.0
    high_share: float = 0.0
    """The interval of the gain, as shares: -0.02 and 0.03 for two percent less to three more."""
    rounds_more: int | None = None
    """Further rounds that would decide by what is known; None where it is decided, or no number of them would."""
    more: More | None = None
    """A run that would decide; None where it is decided."""

    @property
    def gain_share(self) -> float:
        """0.87 for 87 % more."""
        return self.after / self.before - 1


@dataclass(frozen=True)
class _Error:
    """One standard error of the log of the gain, and how well it is known."""

    share: float
    df: int
    at_least: float = 0.0
    """The half width is no less than that, whatever the error."""


def compare(
    before: Sequence[Sample], after: Sequence[Sample], *, looks: int = 1, margin: float = MATTERS
) -> Comparison:
    """Compares two settings that took turns, `before` first: one measurement of each, or one more of the old.

    `looks` is how often the comparison may be made while measurements come in, `margin` the share below which a
    difference does not matter. Raises ValueError where a setting was not measured, or they did not take turns.
    """
    if not before or not after or any(sample.value <= 0 for sample in (*before, *after)):
        raise ValueError("both settings must have been measured")
    if len(before) - len(after) not in (0, 1) or (len(after) > 1 and len(before) == len(after)):
        raise ValueError("the settings must have taken turns, the old one first and last")
    old, new = _mean(before), _mean(after)
    gain, error = math.log(new / old), _error(before, after)
    half = max(error.at_least, error.share * t_quantile(confidence(len(after), looks), error.df))
    low, high = math.expm1(gain - half), math.expm1(gain + half)
    outcome = _verdict(low, high, margin)
    why = _why(outcome, new / old - 1, low, high, margin)
    if outcome == "cannot tell" and error.at_least == half > 0:
        why += f"; the old setting gave {before[0].value:.4g} first and {before[-1].value:.4g} in the end"
    found = Comparison(old, new, math.expm1(half), outcome, why, low, high)
    if outcome != "cannot tell" or len(before) == 1:
        return found
    seen = Seen(gain, error.share, error.df, len(after))
    return replace(found, rounds_more=rounds_more(seen, looks, margin), more=longer(seen, looks, margin))


def _verdict(low: float, high: float, margin: float) -> Outcome:
    if -margin < low and high < margin:
        return "no difference"
    if low > 0:
        return "better"
    return "worse" if high < 0 else "cannot tell"


def _why(outcome: Outcome, gain: float, low: float, high: float, margin: float) -> str:
    span = f"between {low:+.1%} and {high:+.1%} with {CONFIDENCE:.0%} confidence"
    match outcome:
        case "better" | "worse":
            return f"{gain:+.0%}, {span}"
        case "no difference":
            return f"{gain:+.1%}, {span}: any difference is under {margin:.0%}"
        case "cannot tell":
            return f"{gain:+.1%}, {span}: a difference of {margin:.0%} could hide in that"


def _mean(samples: Sequence[Sample]) -> float:
    return math.exp(math.fsum(math.log(sample.value) for sample in samples) / len(samples))


def _error(before: Sequence[Sample], after: Sequence[Sample]) -> _Error:
    within, df = _within(before, after)
    spread = 1 / len(before) + 1 / len(after)
    if len(after) == 1:
        apart = abs(math.log(before[0].value / before[-1].value))
        df = min(df, ONE_ROUND_DF) if len(before) > 1 else df
        return _Error(math.sqrt(within + spread * RUN_SCATTER**2), df, at_least=apart)
    runs, runs_df = _between(before, after)
    runs *= spread
    unknown = any(sample.error_share is None for sample in (*before, *after))
    if unknown or runs > EXPLAINED * within:
        return _Error(math.sqrt(runs), runs_df)
    return _Error(math.sqrt((runs * runs_df + within * df) / (runs_df + df)), runs_df + df)


def _within(before: Sequence[Sample], after: Sequence[Sample]) -> tuple[float, int]:
    """The variance of the gain as the scatter within each measurement has it, and its degrees of freedom."""
    variance, df = 0.0, 0
    for samples in (before, after):
        known = [_variance(sample) for sample in samples]
        variance += math.fsum(one for one, _ in known) / len(samples) ** 2
        df += sum(count for _, count in known)
    return variance, df


def _variance(sample: Sample) -> tuple[float, int]:
    error = UNKNOWN_ERROR if sample.error_share is None else sample.error_share
    return error * error, len(sample.blocks) - 1 if len(sample.blocks) > 1 else UNKNOWN_DF


def _between(before: Sequence[Sample], after: Sequence[Sample]) -> tuple[float, int]:
    """The variance of one measurement about its setting's mean and a straight drift, and its degrees of freedom."""
    turns = [*zip(before, after, strict=False), (before[-1],)]
    logs = [math.log(sample.value) for turn in turns for sample in turn]
    middle = (len(logs) - 1) / 2
    means = [math.log(_mean(before)), math.log(_mean(after))]
    left = [value - means[place % 2] for place, value in enumerate(logs)]
    slope = math.fsum((place - middle) * value for place, value in enumerate(left))
    slope /= math.fsum((place - middle) ** 2 for place in range(len(logs)))
    df = len(logs) - 3
    return math.fsum((value - slope * (place - middle)) ** 2 for place, value in enumerate(left)) / df, df
