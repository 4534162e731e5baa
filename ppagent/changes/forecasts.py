"""What a change would give, as a range: only for changes that the ring model can price, and never without a level."""

from ppagent.causes.cause import Change
from ppagent.causes.graphs import OFF_SWITCHES
from ppagent.causes.physics import measured_levels, ring_of, roofline_of
from ppagent.causes.split import layer_split
from ppagent.changes.proposal import Predicted
from ppagent.evidence.facts import Facts
from ppagent.model.deployment import Deployment
from ppagent.model.forecast import Forecast
from ppagent.model.graph import GraphCase, forecast_graph, forecast_graph_and_spread
from ppagent.model.spread import forecast_limit
from ppagent.sglang.layers import parse_partition

SLOT_LIMIT_FLAGS = ("--pp-max-micro-batch-size", "--max-micro-batch-size")


def forecast(change: Change, facts: Facts) -> Predicted | None:
    """tok/s at the highest measured concurrency after `change`; None where the model has no ground to stand on."""
    levels = measured_levels(facts)
    if not levels:
        return None
    found = _forecast(change, facts, levels[-1].concurrency)
    if found is None:
        return None
    return Predicted(
        found.metric,
        found.at_concurrency,
        round(found.baseline, 1),
        round(found.low, 1),
        round(found.high, 1),
        found.regime,
    )


def slot_limit_in(change: Change) -> int | None:
    """The slot limit that a change sets."""
    return next((int(change.set[flag]) for flag in SLOT_LIMIT_FLAGS if change.set.get(flag, "").isdigit()), None)


def _forecast(change: Change, facts: Facts, concurrency: int) -> Forecast | None:
    limit, graphs = slot_limit_in(change), any(flag in OFF_SWITCHES for flag in change.unset)
    layers = change.env.get("SGLANG_PP_LAYER_PARTITION")
    partition = parse_partition(layers) if layers else ()
    other = len(change.set) - (limit is not None) + len(change.unset) - graphs + len(change.env) - bool(partition)
    if other or concurrency < 1:
        return None
    case = _graph_case(facts)
    match limit, graphs, bool(partition):
        case int(), False, False:
            ring = ring_of(facts)
            # Under a limit that makes requests queue, the levels hold waits that the ring knows nothing of.
            if ring is None or _queues(ring, concurrency):
                return None
            return forecast_limit(ring, limit, concurrency).forecast
        case None, True, False:
            return forecast_graph(case, concurrency) if case is not None else None
        case int(), True, _:
            if case is None or case.roofline is None:
                return None
            return forecast_graph_and_spread(case, concurrency, limit, partition or None)
        case _:
            return None


def _queues(ring: Deployment, concurrency: int) -> bool:
    """Whether the limit in force leaves requests waiting at that load."""
    return ring.slot_limit is not None and ring.slot_limit * ring.slots < concurrency


def _graph_case(facts: Facts) -> GraphCase | None:
    split, levels, roofline = layer_split(facts), measured_levels(facts), roofline_of(facts)
    if split is None or not levels:
        return None
    if roofline is not None and sum(split.layers) != len(roofline.architecture.layers):
        roofline = None
    return GraphCase(levels, split.layers, roofline)
