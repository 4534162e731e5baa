"""Which slots requests fill, and the line of turns that follows from a fill."""

from collections.abc import Sequence
from dataclasses import replace

from ppagent.model.fit import Line, fit_line
from ppagent.model.levels import Level

# Fills are tried in steps of this: clumps come and go, so a mean fill is no whole number.
FILL_STEP = 0.25


def admitted(concurrency: int, slots: int, slot_limit: int | None) -> int:
    """Requests that run at once: the slots' limit caps them, the others wait for a slot."""
    return concurrency if slot_limit is None else min(concurrency, slot_limit * slots)


def served(level: Level, slots: int, slot_limit: int | None) -> Level:
    """`level` by the requests that run: those that wait are in its C/X, and are no part of a turn."""
    running = admitted(level.concurrency, slots, slot_limit)
    if running == level.concurrency:
        return level
    share = running / level.concurrency if level.measure == "throughput" else 1.0
    return replace(level, concurrency=running, turn_ms=level.turn_ms * share)


def served_levels(levels: Sequence[Level], slots: int, slot_limit: int | None) -> tuple[Level, ...]:
    """The levels by the requests that ran in them, one for each number: of several the one with the shortest turn,
    which has least beside the ring in it."""
    running = sorted((served(level, slots, slot_limit) for level in levels), key=lambda level: -level.turn_ms)
    found = {level.concurrency: level for level in running}
    return tuple(found[concurrency] for concurrency in sorted(found))


def line_at_fill(levels: Sequence[Level], fill: float, slots: int, slot_limit: int | None = None) -> Line | None:
    """The turn over requests *a slot* if they fill up to `fill` slots evenly; None where all levels have as many."""
    running = served_levels(levels, slots, slot_limit)
    batches = [level.concurrency / filled_slots(level.concurrency, fill, slots, slot_limit) for level in running]
    return fit_line(batches, [level.turn_ms for level in running])


def filled_slots(concurrency: int, fill: float, slots: int, slot_limit: int | None = None) -> float:
    """Slots that `concurrency` requests fill: `fill` where the limit leaves them alone, more where it forces them."""
    filled = min(fill, float(concurrency), float(slots))
    if slot_limit is not None:
        filled = max(filled, min(float(slots), float(-(-concurrency // slot_limit))))
    return filled


def fills_to_try(slots: int) -> list[float]:
    """Mean fills from one slot to all of them."""
    return [1 + FILL_STEP * step for step in range(int((slots - 1) / FILL_STEP) + 1)]


def worst_miss(levels: Sequence[Level], fill: float, slots: int) -> float:
    """Worst miss of a ring whose requests fill up to `fill` slots evenly."""
    batches = [level.concurrency / min(fill, level.concurrency, slots) for level in levels]
    line = fit_line(batches, [level.turn_ms for level in levels])
    if line is None:
        mean_ms = sum(level.turn_ms for level in levels) / len(levels)
        return max(abs(level.turn_ms - mean_ms) / level.turn_ms for level in levels)
    return line.worst_residual if line.base_ms > 0 and line.per_request_ms > -0.01 * line.base_ms else float("inf")
