"""How many micro-batch slots were filled: what measured levels allow, and what a log or a person says about it.

What the data cannot tell apart is said, since the same change helps under several hypotheses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.fit import Line
from ppagent.model.levels import Level
from ppagent.model.readings import (
    TOLERANCE,
    Reading,
    RunningPerSlot,
    curve_readings,
    forced_reading,
    logged_reading,
)
from ppagent.model.slots import FILL_STEP, admitted, fills_to_try, line_at_fill, served_levels, worst_miss


@dataclass(frozen=True)
class FillReport:
    """All readings at one concurrency, and the range of filled slots that the levels allow there.

    `line` is the turn over requests in a slot under the lowest of them. `disagree` is True where a logged or stated
    figure lies outside the range, None where there is no such figure or no range.
    """

    concurrency: int
    line: Line | None
    readings: tuple[Reading, ...]
    fill_low: float
    fill_high: float
    disagree: bool | None

    def reading(self, hypothesis: str) -> Reading | None:
        """The reading of `hypothesis`, None where it was not examined."""
        return next((reading for reading in self.readings if reading.hypothesis == hypothesis), None)


def read_fill(
    levels: Sequence[Level],
    slots: int,
    running: RunningPerSlot | None = None,
    *,
    concurrency: int | None = None,
    slot_limit: int | None = None,
) -> FillReport:
    """Hold every hypothesis against `levels` and say which fills of the ring they allow at `concurrency`.

    `concurrency` is the highest level's where it is not given. `slot_limit` (the effective
    `pp_max_micro_batch_size`) forces a spread that the levels need not show, and leaves requests waiting above it: a
    level then tells of those that ran.
    """
    at = concurrency or max((level.concurrency for level in levels), default=1)
    at, levels = admitted(at, slots, slot_limit), served_levels(levels, slots, slot_limit)
    readings = list(curve_readings(levels, slots))
    tried = fills_to_try(slots) if len(levels) > 2 else []
    allowed = [fill for fill in tried if worst_miss(levels, fill, slots) <= TOLERANCE]
    most = float(min(at, slots))
    low, high = (min(allowed[0], most), min(allowed[-1], most)) if allowed else (1.0, most)
    disagree = None
    if slot_limit is not None and at > slot_limit:
        reading = forced_reading(slot_limit, at, slots)
        readings.append(reading)
        low, high = max(low, reading.fill_low or 1.0), max(high, reading.fill_low or 1.0)
    if running is not None:
        reading = logged_reading(running, at, slots)
        readings.append(reading)
        if allowed and reading.fill_low is not None and reading.fill_high is not None:
            disagree = reading.fill_low > high + FILL_STEP or reading.fill_high < low - FILL_STEP
    return FillReport(at, line_at_fill(levels, low, slots, slot_limit), tuple(readings), low, high, disagree)
