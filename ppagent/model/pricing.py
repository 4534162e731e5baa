"""The waterfall of a decoding server: what each supported cause costs, taken away in a fixed order."""

from ppagent.model.graph import GraphCase
from ppagent.model.roofline import Roofline
from ppagent.model.spread import best_limit
from ppagent.model.waterfall import Level, Step, build_waterfall
from ppagent.model.whatif import Server


def ceiling_tokens_per_s(roofline: Roofline, stages: int, concurrency: int) -> float:
    """What `concurrency` requests reach at peak bandwidth with all slots filled and stages made exactly equal."""
    batch = max(1.0, concurrency / stages)
    return 1000.0 * concurrency / roofline.ring_ms(batch)


def split_tokens_per_s(roofline: Roofline, split: tuple[int, ...], concurrency: int) -> float:
    """The same with the stages that `split` makes."""
    filled = min(len(split), concurrency)
    batch = concurrency / filled
    return 1000.0 * concurrency / max(roofline.ring_ms(batch), filled * max(roofline.stage_ms(split, batch)))


def decode_waterfall(server: Server, concurrency: int, causes: frozenset[str]) -> tuple[Step, ...]:
    """From the ceiling to what was measured at `concurrency`, one step for each of `causes` that the model can price.

    The ceiling is at the share of peak bandwidth which this server's kernels reach at their best level. The order is
    PP004 (uneven stages), CG001 (graphs off), PP001 (unfilled slots): each costs that much once those before it are
    paid. Raises ValueError without roofline and split.
    """
    roofline, split = server.roofline, server.now.split
    if roofline is None or split is None:
        raise ValueError("a ceiling needs the model's config and the card")
    case = GraphCase(server.levels, split, roofline)
    share = sum(case.efficiency()) / 2
    limit = share * ceiling_tokens_per_s(roofline, server.stages, concurrency)
    deployment = server.deployment(concurrency)
    observed = deployment.baseline(concurrency)
    spread = best_limit(deployment, concurrency).forecast.middle
    height = limit
    levels: list[Level] = []
    if "PP004" in causes:
        height = share * split_tokens_per_s(roofline, split, concurrency)
        levels.append(Level("PP004", height, "uneven stages, LM head"))
    if "CG001" in causes and not server.now.graph:
        height = min(height, spread)
        levels.append(Level("CG001", height, "host and launch gaps"))
    if "PP001" in causes:
        modelled = 1000.0 * concurrency / deployment.turn_now_ms(concurrency)
        height -= max(spread - modelled, 0.0)
        levels.append(Level("PP001", height, "micro-batches unfilled"))
    return build_waterfall(limit, levels, observed)
