"""What the fill of the ring and the growth of its turn say of unfilled micro-batches."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ppagent.causes.cause import Observation
from ppagent.causes.fill import FillReading, fill_readings, turn_line
from ppagent.causes.judge import weight
from ppagent.causes.situation import Level, levels, slots
from ppagent.evidence.facts import Facts

LITTLE_GAIN = 1.05
"""Below five percent a spread is not worth a change; it would be sold as more than it is."""

MODEL_ERROR = 1.07
"""The most that the middle of a forecast missed a recorded change by."""

NO_GAIN = LITTLE_GAIN * MODEL_ERROR
"""Best possible gain of spreading (G = T(C) / T(C/F) with a slot for each request) up to which the requests may as
well share one: even where the model errs to that side, little is left of it."""

UNFILLED = 0.62
"""Filled of possible slots up to which a reading speaks for the cause."""

AT_WORK = 0.85
"""Share of what is possible from which stages are at work all the time, but for hops and the way back."""

_AGAIN = (0.55, 0.5)
"""Likelihoods, by the cause and without it, that a second look at one counter shows what the first one showed: near one
another, since it would in either case."""


def _observed(reading: FillReading) -> Observation | None:
    """A fill reading as an observation: the emptier the ring, the likelier the cause. A reading that only bounds the
    filled slots from above can show an empty ring, never a full one."""
    sure = 0.9 if reading.way == "log" or reading.of_stages else 0.8
    if reading.share <= 0.4:
        return Observation(reading.says, reading.cites, sure, 0.05)
    if reading.share <= UNFILLED:
        return Observation(reading.says, reading.cites, 0.6, 0.2)
    if reading.only_at_most:
        return None
    if reading.of_stages and reading.share >= AT_WORK:
        return Observation(reading.says, reading.cites, 0.02, 0.8)
    return Observation(reading.says, reading.cites, 0.08, 0.8)


def fill_seen(facts: Facts) -> Iterator[Observation]:
    """What the readings say. Those of `#running-req` against the load are one measurement, told more than once: the
    most telling one of each side counts, and the others, which would agree in either case, hardly add to it. The tokens
    held tell the load by themselves, and stand beside them unless the stages contradict the count."""
    seen = [(r, o) for r in fill_readings(facts) if (o := _observed(r)) is not None]
    one = ("log", "stated", "gauge") if stages_at_work(facts) is None else ("log", "stated", "gauge", "tokens")
    counted = [o for r, o in seen if r.way in one]
    strongest = {o.supports: o for o in sorted(counted, key=weight)}.values()
    for reading, observation in seen:
        counts = reading.way not in one or any(observation is each for each in strongest)
        yield observation if counts else _again(observation)


def contradiction(facts: Facts) -> tuple[FillReading, FillReading] | None:
    """The emptiest and the fullest reading, where one shows slots that wait and the other a ring at work."""
    readings = fill_readings(facts)
    empty = min(readings, key=lambda r: r.share, default=None)
    full = max((r for r in readings if not r.only_at_most), key=lambda r: r.share, default=None)
    if empty is None or full is None or empty.share > UNFILLED or full.share < AT_WORK:
        return None
    return empty, full


def _again(observation: Observation) -> Observation:
    likely, less = _AGAIN if observation.supports else _AGAIN[::-1]
    return replace(observation, if_true=likely, if_false=less)


def stages_at_work(facts: Facts) -> FillReading | None:
    """The reading that shows the stages to be at work all the time, if there is one."""
    return next((r for r in fill_readings(facts) if r.of_stages and r.share >= AT_WORK), None)


def turns_seen(facts: Facts) -> Observation | None:
    """With a slot of its own each request would leave the turn as it is; one slot makes it grow with each."""
    ring, line, measured = slots(facts), turn_line(facts), levels(facts)
    if ring is None or line is None:
        return None
    within = [level for level in measured if level.concurrency <= ring.value]
    if len(within) < 2 or within[-1].concurrency < 2:
        return None
    growth = within[-1].turn_ms / within[0].turn_ms
    most = _most_gain(within)
    turns = " / ".join(f"{level.turn_ms:.4g}" for level in within)
    loads = " / ".join(f"{level.concurrency:g}" for level in within)
    own = " and ".join(f"{1000 * level.concurrency / within[0].turn_ms:.0f}" for level in within[1:])
    got = " and ".join(f"{level.tokens_per_s:.0f}" for level in within[1:])
    says = f"ring turn {turns} ms at C = {loads} = {line.beta_ms:.1f} + {line.alpha_ms:.2f} C"
    if growth >= 1.5 and within[-1].concurrency >= 3:
        says += f": own slots would give {own} tok/s, measured {got}"
        # Stages that are always at work take turns of C times the longest stage, so they make it grow just as well.
        return Observation(says, line.cites, 0.8, 0.15 if stages_at_work(facts) is None else 0.7)
    if most <= NO_GAIN:
        return Observation(says + ": slots of their own would gain next to nothing", line.cites, 0.08, 0.75)
    if growth <= 1.3:
        return Observation(says + ": it hardly grows, as with a slot each", line.cites, 0.2, 0.7)
    return None


def _most_gain(within: Sequence[Level]) -> float:
    """The gain of a slot for each request: the turn now over that of one request, by the line through both ends."""
    first, last = within[0], within[-1]
    each_ms = (last.turn_ms - first.turn_ms) / (last.concurrency - first.concurrency)
    alone_ms = first.turn_ms - each_ms * (first.concurrency - 1)
    return last.turn_ms / alone_ms if alone_ms > 0 else math.inf
