"""The model's view of the case: measured levels, the ring with its fill now, and the roofline, built from facts."""

from collections.abc import Mapping

from ppagent.causes.fill import fill_readings
from ppagent.causes.situation import no_cuda, slot_limit, slots, stages, tensor_parallel
from ppagent.causes.split import layer_split
from ppagent.causes.stage_times import HOST_PACES, HOST_SIDE, TRACED, busy_shares, by_stage
from ppagent.errors import UserError
from ppagent.evidence.facts import Facts
from ppagent.model.architecture import Architecture, read_architecture
from ppagent.model.deployment import Deployment, even_shares, share_views
from ppagent.model.fill import FillReport, read_fill
from ppagent.model.hardware import Card, find_card
from ppagent.model.levels import Level, levels_from_bench
from ppagent.model.roofline import Roofline
from ppagent.model.slots import FILL_STEP
from ppagent.model.stage_costs import StageCosts


def measured_levels(facts: Facts) -> tuple[Level, ...]:
    """Load levels for the model: recorded benchmarks, else what the user stated, else the traffic that was there."""
    for name in ("bench.levels", "stated.levels"):
        rows = [_bench_row(row) for row in facts.items(name) if isinstance(row, dict)]
        found = levels_from_bench(rows)
        if found:
            return found
    return levels_from_bench([_traffic_row(facts)])


def _traffic_row(facts: Facts) -> dict[str, object]:
    """The server's own counters as the one level that they are; empty where they were not seen under way."""
    in_flight, turn_ms = facts.number("metrics.in_flight"), facts.number("metrics.itl_ms")
    tokens_per_s = facts.number("metrics.streamed_rate")
    if in_flight is None or turn_ms is None or tokens_per_s is None:
        return {}
    return {"max_concurrency": round(in_flight), "mean_itl_ms": turn_ms, "output_throughput": tokens_per_s}


def _bench_row(row: Mapping[str, object]) -> dict[str, object]:
    """A row of bench.levels under bench_serving's own field names."""
    renamed = {"concurrency": "max_concurrency", "achieved_concurrency": "concurrency"}
    return {renamed.get(key, key): value for key, value in row.items()}


def turn_report(facts: Facts) -> FillReport | None:
    """Which fills of the ring the load levels allow; None with fewer than three, which allow any."""
    ring_slots, levels = slots(facts), measured_levels(facts)
    if ring_slots is None or ring_slots.value < 2 or len(levels) < 3:
        return None
    return read_fill(levels, int(ring_slots.value))


def ring_of(facts: Facts) -> Deployment | None:
    """The measured ring; None without a pipeline or without a measured level.

    Its fill now spans every reading there is: what the levels allow, what the log shows, what was stated. The roofline
    counts where the levels were all taken at one batch: a turn then cannot shrink by more than the bytes of a step do,
    next to nothing for a dense model, by the experts that fewer requests wake for a MoE.
    """
    ring, ring_slots, levels = stages(facts), slots(facts), measured_levels(facts)
    if ring is None or ring_slots is None or ring.value < 2 or not levels:
        return None
    limit = slot_limit(facts)
    effective = int(limit.value) if limit is not None else None
    report = read_fill(levels, int(ring_slots.value), slot_limit=effective)
    return Deployment(
        levels=levels,
        stages=int(ring.value),
        slots=int(ring_slots.value),
        fill=_fill_now(facts, report),
        shares=_shares(facts, int(ring.value), levels),
        slot_limit=effective,
        shared_host=no_cuda(facts) is not None,
        roofline=roofline_of(facts),
        measured=stage_costs_of(facts),
    )


def _fill_now(facts: Facts, report: FillReport) -> tuple[float, float]:
    """What was counted, where the levels allow it: a count says more than a curve. Where they contradict, both."""
    counted = [reading.filled for reading in fill_readings(facts)]
    low, high = report.fill_low - FILL_STEP, report.fill_high + FILL_STEP
    if counted and all(low <= filled <= high for filled in counted):
        return min(counted), max(counted)
    return min([report.fill_low, *counted]), max([report.fill_high, *counted])


def _shares(facts: Facts, count: int, levels: tuple[Level, ...]) -> tuple[tuple[float, ...], ...]:
    split, roofline, measured = layer_split(facts), roofline_of(facts), stage_costs_of(facts)
    if measured is not None:
        return (measured.shares_of(measured.layers),)
    if split is None or len(split.layers) != count:
        return (even_shares(count),)
    top = levels[-1]
    device_ms = None
    if roofline is not None and sum(split.layers) == len(roofline.architecture.layers):
        device_ms = roofline.stage_ms(split.layers, 1)
    return share_views(split.layers, device_ms, top.turn_ms)


def stage_costs_of(facts: Facts) -> StageCosts | None:
    """Each stage's own time as traces or counters show it, with the layers it holds; None without one of both.

    Busy shares stand for times: every stage runs the same forwards, so the shares are in proportion to them. The host's
    share counts only where the host is what works (`--device cpu`, or launches that fill its time).
    """
    split, ring = layer_split(facts), stages(facts)
    name, busy = busy_shares(facts)
    if split is None or ring is None or (name == HOST_SIDE and max(busy.values()) < HOST_PACES):
        return None
    traced_ms = facts.numbers("profile.busy_ms") if name == TRACED else {}
    traced_ms = traced_ms if set(traced_ms) >= set(busy) else {}
    times = by_stage(traced_ms or busy)
    if set(times) != set(range(int(ring.value))) or min(split.layers) < 1 or min(times.values()) <= 0:
        return None
    ordered = tuple(times[stage] for stage in range(len(times)))
    roofline, head = roofline_of(facts), 0.0
    if roofline is not None and sum(split.layers) == len(roofline.architecture.layers):
        head = roofline.head_ms() / roofline.stage_ms(split.layers, 1)[-1]
    return StageCosts(split.layers, ordered, head, _in_words(name, traced_ms, ordered))


def _in_words(name: str, traced_ms: Mapping[str, float], times: tuple[float, ...]) -> str:
    if traced_ms:
        return f"traced: {', '.join(f'{time:.3g}' for time in times)} ms a forward"
    top = max(times)
    return f"by {name}: {', '.join(f'{time / top:.0%}' for time in times)} of the longest"


def architecture_of(facts: Facts) -> Architecture | None:
    """The model's architecture by its config; None where no config was seen or it is no language model's."""
    config = {name.removeprefix("model."): facts.get(name) for name in facts if name.startswith("model.")}
    values = {name: fact.value for name, fact in config.items() if fact is not None}
    if not values:
        return None
    try:
        return read_architecture(values)
    except UserError:
        return None


def card_of(facts: Facts) -> Card | None:
    """The accelerator under the server; None on a device without CUDA or where it is not in the table."""
    if no_cuda(facts) is not None:
        return None
    names = [str(name) for name in facts.table("gpu.names").values()] or [facts.text("stated.gpu_model") or ""]
    return find_card(names[0]) if names[0] else None


def roofline_of(facts: Facts) -> Roofline | None:
    """Bytes and bandwidth, where both the model and the card are known."""
    architecture, card, ranks = architecture_of(facts), card_of(facts), tensor_parallel(facts)
    if architecture is None or card is None:
        return None
    return Roofline(architecture, card, int(ranks.value) if ranks is not None else 1)
