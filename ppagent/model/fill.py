"""How many micro-batch slots measured levels allow to be filled."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.fit import Line
from ppagent.model.levels import Level
from ppagent.model.slots import admitted, filled_slots, fills_to_try, line_at_fill, served_levels, worst_miss

# Worst distance from a fill's turns, as a share: two runs of a level differ by 2-3 %, so this is two of them.
TOLERANCE = 0.05


@dataclass(frozen=True)
class FillReport:
    """The range of filled slots that the levels allow at one concurrency, all of it where there are too few to tell.

    `line` is the turn over requests in a slot under the lowest of them.
    """

    line: Line | None
    fill_low: float
    fill_high: float


def read_fill(
    levels: Sequence[Level], slots: int, *, concurrency: int | None = None, slot_limit: int | None = None
) -> FillReport:
    """Say which fills of the ring `levels` allow at `concurrency`, the highest level's where it is not given.

    `slot_limit` (the effective `pp_max_micro_batch_size`) forces a spread that the levels need not show, and leaves
    requests waiting above it: a level then tells of those that ran.
    """
    at = concurrency or max((level.concurrency for level in levels), default=1)
    at, levels = admitted(at, slots, slot_limit), served_levels(levels, slots, slot_limit)
    tried = fills_to_try(slots) if len(levels) > 2 else []
    allowed = [fill for fill in tried if worst_miss(levels, fill, slots) <= TOLERANCE]
    most = float(min(at, slots))
    low, high = (min(allowed[0], most), min(allowed[-1], most)) if allowed else (1.0, most)
    if slot_limit is not None and at > slot_limit:
        forced = filled_slots(at, 1.0, slots, slot_limit)
        low, high = max(low, forced), max(high, forced)
    return FillReport(line_at_fill(levels, low, slots, slot_limit), low, high)
