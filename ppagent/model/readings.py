"""Hypotheses about filled slots, each held against measured turns: what it predicts, and whether that is seen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ppagent.model.fit import fit_line
from ppagent.model.levels import Level
from ppagent.model.slots import filled_slots, fills_to_try, worst_miss

# Worst distance from a hypothesis' turns, as a share: two runs of a level differ by 2-3 %, so this is two of them.
TOLERANCE = 0.05
ONE_SLOT = "one slot"
FEW_SLOTS = "a few slots"
OWN_SLOTS = "own slots"
OWN_SLOTS_SLOW_STAGE = "own slots, one slow stage"
LOGGED = "logged or stated"
FORCED = "forced by the slot limit"


class Verdict(StrEnum):
    FITS = "fits"
    REJECTED = "rejected"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class RunningPerSlot:
    """Requests a slot as logged (`#running-req` under PP) or stated; `concurrency` where the load is known with it."""

    low: float
    high: float
    concurrency: int | None = None


@dataclass(frozen=True)
class Reading:
    """One hypothesis held against the levels, in a sentence, and the filled slots it would mean."""

    hypothesis: str
    verdict: Verdict
    says: str
    fill_low: float | None = None
    fill_high: float | None = None


def curve_readings(levels: Sequence[Level], slots: int) -> Iterable[Reading]:
    """Every hypothesis that the levels alone can test."""
    if len(levels) < 2:
        yield Reading(ONE_SLOT, Verdict.CANNOT_TELL, "One load level says nothing about the fill: measure another.")
        return
    yield _one_slot(levels, slots)
    yield _few_slots(levels, slots)
    yield _own_slots(levels, slots)
    yield _slow_stage(levels, slots)


def _one_slot(levels: Sequence[Level], slots: int) -> Reading:
    line = fit_line([level.concurrency for level in levels], [level.turn_ms for level in levels])
    if line is None:
        return Reading(ONE_SLOT, Verdict.CANNOT_TELL, "The levels are all of one concurrency: measure another.")
    turns = " / ".join(f"{level.turn_ms:.1f}" for level in levels)
    at = "/".join(str(level.concurrency) for level in levels)
    formula = f"ring turn {turns} ms at C={at} = {line.base_ms:.1f} + {line.per_request_ms:.2f} C ms"
    error = worst_miss(levels, 1.0, slots)
    if len(levels) == 2:
        return Reading(ONE_SLOT, Verdict.CANNOT_TELL, f"{formula}: two levels fit any line.", 1.0, 1.0)
    verdict = Verdict.FITS if error <= TOLERANCE else Verdict.REJECTED
    return Reading(ONE_SLOT, verdict, f"{formula}, worst residual {error:.1%}.", 1.0, 1.0)


def _few_slots(levels: Sequence[Level], slots: int) -> Reading:
    if len(levels) == 2:
        return Reading(FEW_SLOTS, Verdict.CANNOT_TELL, "Two levels cannot tell one filled slot from a few.")
    allowed = [fill for fill in fills_to_try(slots) if fill > 1 and worst_miss(levels, fill, slots) <= TOLERANCE]
    if not allowed:
        return Reading(FEW_SLOTS, Verdict.REJECTED, f"No fill above one slot comes within {TOLERANCE:.0%}.")
    low, high = allowed[0], allowed[-1]
    says = f"A constant fill of up to {high:g} slots comes within {TOLERANCE:.0%} too: the levels do not exclude it."
    return Reading(FEW_SLOTS, Verdict.FITS, says, low, high)


def _own_slots(levels: Sequence[Level], slots: int) -> Reading:
    first, *others = [level for level in levels if level.concurrency <= slots] or [levels[0]]
    if not others:
        return Reading(OWN_SLOTS, Verdict.CANNOT_TELL, "Own slots need two levels of no more requests than slots.")
    misses = [(level, 1000 * level.concurrency / first.turn_ms) for level in others]
    says = "With a slot each, " + ", ".join(
        f"C={level.concurrency} would give {predicted:.1f} tok/s (measured {_measured(level):.1f}, "
        f"{_measured(level) / predicted - 1:+.0%})"
        for level, predicted in misses
    )
    worst = max(abs(_measured(level) / predicted - 1) for level, predicted in misses)
    verdict = Verdict.FITS if worst <= 2 * TOLERANCE else Verdict.REJECTED
    return Reading(OWN_SLOTS, verdict, says + ".", float(min(levels[-1].concurrency, slots)), float(slots))


def _slow_stage(levels: Sequence[Level], slots: int) -> Reading:
    last = levels[-1]
    slow_ms = last.turn_ms / min(last.concurrency, slots)
    between = [level for level in levels[1:-1] if level.concurrency <= slots]
    if not between:
        says = "Own slots behind one slow stage need a level between the lowest and the highest to be tested."
        return Reading(OWN_SLOTS_SLOW_STAGE, Verdict.CANNOT_TELL, says)
    first = levels[0]
    worst, says = 0.0, f"With a slot each and a slow stage of {slow_ms:.1f} ms, "
    parts = []
    for level in between:
        turn_ms = max(first.turn_ms, level.concurrency * slow_ms)
        predicted = 1000 * level.concurrency / turn_ms
        worst = max(worst, abs(_measured(level) / predicted - 1))
        parts.append(f"C={level.concurrency} would give {predicted:.1f} tok/s (measured {_measured(level):.1f})")
    verdict = Verdict.FITS if worst <= 2 * TOLERANCE else Verdict.REJECTED
    return Reading(OWN_SLOTS_SLOW_STAGE, verdict, says + ", ".join(parts) + ".")


def forced_reading(limit: int, at: int, slots: int) -> Reading:
    """The fill that a slot limit forces on `at` requests."""
    filled = filled_slots(at, 1.0, slots, limit)
    requests = f"{at} request{'' if at == 1 else 's'}"
    says = f"A slot limit of {limit} forces {requests} into at least {filled:g} of {slots} slots."
    return Reading(FORCED, Verdict.FITS, says, filled, float(min(at, slots)))


def logged_reading(running: RunningPerSlot, at: int, slots: int) -> Reading:
    """The fill that logged or stated requests a slot mean, taken at `at` requests where no load came with them."""
    concurrency = running.concurrency or at
    low = min(float(slots), max(1.0, concurrency / running.high))
    high = min(float(slots), max(1.0, concurrency / running.low))
    span = f"{running.low:g}" if running.low == running.high else f"{running.low:g}-{running.high:g}"
    says = f"{span} running requests a slot with {concurrency} in flight mean about {_span(low, high)} filled slots"
    if running.concurrency is None:
        says += f", if they were seen at C={concurrency}; at a lower load they mean fewer"
    return Reading(LOGGED, Verdict.FITS, says + ".", low, high)


def _span(low: float, high: float) -> str:
    return f"{low:.1f}" if round(low, 1) == round(high, 1) else f"{low:.1f}-{high:.1f}"


def _measured(level: Level) -> float:
    """Decode throughput of the level: from its turn, so that prefill and think time do not count as a miss."""
    return 1000.0 * level.concurrency / level.turn_ms
