"""Each supported cause's share of the way from the ceiling down to what was observed."""

from collections.abc import Collection

from ppagent.causes.physics import measured_levels, ring_of, roofline_of
from ppagent.causes.situation import slots, spread_limit
from ppagent.causes.split import layer_split
from ppagent.evidence.facts import Facts
from ppagent.model.roofline import Roofline
from ppagent.model.spread import forecast_limit
from ppagent.model.waterfall import Level, Step, build_waterfall, rounded


def waterfall(supported: Collection[str], facts: Facts) -> tuple[Step, ...]:
    """Steps at the highest measured load, in tok/s. Empty without a measured ring or a known model on a known card.

    Causes are taken away in the order split, graphs, fill: what one costs depends on those before it.
    """
    ring, roofline, split, ring_slots = ring_of(facts), roofline_of(facts), layer_split(facts), slots(facts)
    if ring is None or roofline is None or split is None or ring_slots is None:
        return ()
    if sum(split.layers) != len(roofline.architecture.layers):
        return ()
    requests = measured_levels(facts)[-1].concurrency
    filled = min(requests, len(split.layers))
    observed = ring.baseline(requests)
    spread = forecast_limit(ring, spread_limit(requests, ring_slots.value), requests).forecast.middle
    levels = [Level("PP004", _at_peak(roofline, split.layers, requests, filled), "uneven stages, LM head on the last")]
    if "CG001" in supported:
        levels.append(Level("CG001", spread, "host and launch gaps with graphs off"))
    if "PP001" in supported:
        levels.append(Level("PP001", observed, "micro-batches unfilled"))
    ceiling = _even(roofline, requests, filled)
    return rounded(build_waterfall(ceiling, [level for level in levels if level.tokens_per_s < ceiling], observed))


def _even(roofline: Roofline, requests: int, filled: int) -> float:
    """tok/s at peak bandwidth with all slots filled and every stage alike."""
    batch = requests / filled
    return 1000 * batch * filled / roofline.ring_ms(batch)


def _at_peak(roofline: Roofline, split: tuple[int, ...], requests: int, filled: int) -> float:
    """tok/s at peak bandwidth when the longest stage of the real split paces the filled slots."""
    batch = requests / filled
    times = roofline.stage_ms(split, batch)
    return 1000 * requests / max(sum(times), filled * max(times))
