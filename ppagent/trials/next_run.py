"""What to run next where a trial could not tell: the very option, how long that takes, and what else would do."""

import math
from dataclasses import dataclass

from ppagent.trials.live import Outcome
from ppagent.trials.rounds import ROUNDS

LEVEL_SHARE = 0.4
"""How long a level for the forecast takes, as a share of a measurement."""
LONG_S = 3600.0


@dataclass(frozen=True)
class NextRun:
    """A run that should decide, by the scatter that was seen."""

    seconds: int
    """Of each measurement."""
    rounds: int
    most_s: float
    """How long it takes in all, should every round be needed."""

    @property
    def options(self) -> str:
        """As they are given to `ppagent try`; the rounds where they are not the usual ones."""
        return f"--seconds {self.seconds}" + (f" --rounds {self.rounds}" if self.rounds != ROUNDS else "")


def next_run(outcome: Outcome, levels: int) -> NextRun | None:
    """The run that should decide; None where the trial did. `levels` were measured for a forecast first."""
    more = outcome.comparison.more
    if more is None:
        return None
    seconds = more.seconds(outcome.measured_s)
    settling_s = max(0.0, outcome.round_s / 2 - outcome.measured_s)
    phases_s = (1 + 2 * more.rounds) * (settling_s + seconds)
    return NextRun(seconds, more.rounds, phases_s + levels * 2 * LEVEL_SHARE * seconds)


def next_words(outcome: Outcome, levels: int) -> str:
    """In words for the terminal; empty where nothing is known that would decide."""
    if any(phase.unsettled for phase in outcome.phases):
        return "a load of ppagent's own, without --observe, has answers short enough to turn over"
    run = next_run(outcome, levels)
    if run is None:
        return ""
    told = (
        f"the same command with `{run.options}` should decide, four times out of five or more: about "
        f"{in_words(run.most_s)} at the most (the error falls with the square root of the time)"
    )
    if run.most_s <= LONG_S:
        return told
    comparison = outcome.comparison
    margin = math.ceil(100 * max(-comparison.low_share, comparison.high_share))
    return f"{told}; on a quieter machine it takes less, and with `--margin {margin}` what was measured would do"


def in_words(seconds: float) -> str:
    """A time as a person says it."""
    if seconds >= 2 * 3600:
        return f"{seconds / 3600:.0f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"
