"""Each supported cause's share of the way from the ceiling down to what was observed."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from ppagent.causes.situation import spread_limit
from ppagent.changes.forecasts import server_of
from ppagent.evidence.facts import Facts
from ppagent.model.ring import turn_of
from ppagent.model.roofline import Roofline
from ppagent.model.waterfall import UNEXPLAINED, Level, Step, build_waterfall, rounded
from ppagent.model.whatif import Server, what_if

COSTS_NOTHING = "costs nothing at this load"
"""What is said of a cause whose cure is not forecast to give anything here."""

UNEVEN = "PP004"
"""In the ceiling's way whether the cause is supported or not; left out where it takes nothing."""

NOTHING = 0.005
"""Share of the ceiling below which a bar cannot be seen."""

IMPOSSIBLE = "faster than the card can read: card, model or load levels are not what they seem"


def waterfall(supported: Collection[str], facts: Facts) -> tuple[Step, ...]:
    """Steps at the highest measured load, in tok/s. Empty without a measured ring or a known model on a known card.

    What was observed above the ceiling is said to be so and prices no cause. Causes are taken away in the order split,
    graphs, fill: what one costs depends on those before it. No step goes up: a cause whose cure would lose here costs
    nothing, and its row says so.
    """
    server = server_of(facts)
    if server is None or server.roofline is None or server.now.split is None:
        return ()
    roofline, split = server.roofline, server.now.split
    requests = max(level.concurrency for level in server.levels)
    filled = min(requests, len(split))
    observed, ceiling = server.deployment(requests).baseline(requests), _even(roofline, requests, filled)
    if observed > ceiling:
        steps = rounded(build_waterfall(ceiling, [], observed))
        return tuple(replace(step, label=IMPOSSIBLE) if step.step == UNEXPLAINED else step for step in steps)
    spread = _spread(server, requests)
    levels = [_uneven(server, roofline, split, requests)]
    if "CG001" in supported:
        levels.append(Level("CG001", spread, "host and launch gaps with graphs off"))
    if "PP001" in supported:
        levels.append(Level("PP001", observed, "micro-batches unfilled"))
    elif "PP003" in supported:
        levels.append(Level("PP003", observed, "requests that wait for a slot"))
    steps = rounded(build_waterfall(ceiling, _downward(levels, ceiling, observed), observed))
    return tuple(replace(step, blamed=step.step != UNEVEN or UNEVEN in supported) for step in steps)


def _downward(levels: Sequence[Level], ceiling: float, observed: float) -> list[Level]:
    """The levels with none above the one before it, and none below what was observed with all causes in place."""
    found: list[Level] = []
    height = ceiling
    for level in levels:
        reached = max(observed, min(height, level.tokens_per_s))
        if height - reached < NOTHING * ceiling:
            if level.cause == UNEVEN:
                continue
            reached, level = height, replace(level, label=f"{level.label}: {COSTS_NOTHING}")
        found.append(replace(level, tokens_per_s=reached))
        height = reached
    return found


def _spread(server: Server, requests: int) -> float:
    """tok/s, the middle of the forecast, once the requests are dealt evenly over all slots and none waits."""
    dealt = replace(server.now, slot_limit=spread_limit(requests, server.slots))
    return what_if(server, dealt, requests).middle


def _even(roofline: Roofline, requests: int, filled: int) -> float:
    """tok/s at peak bandwidth with all slots filled and every stage alike."""
    batch = requests / filled
    return 1000 * batch * filled / roofline.ring_ms(batch)


def _uneven(server: Server, roofline: Roofline, split: tuple[int, ...], requests: int) -> Level:
    """tok/s at peak bandwidth when the longest stage paces the filled slots: by the stages' own times where they were
    taken, else by their bytes."""
    filled = min(requests, len(split))
    batch, measured = requests / filled, server.seen.measured if server.seen is not None else None
    times_ms, label = roofline.stage_ms(split, batch), "uneven stages, LM head on the last"
    if measured is not None:
        times_ms = tuple(roofline.ring_ms(batch) * share for share in measured.shares_of(split))
        label = "uneven stages, by their own times"
    return Level(UNEVEN, 1000 * requests / turn_of(times_ms, filled), label)
