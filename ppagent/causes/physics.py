"""The model's view of the case: measured levels, the ring with its fill now, and the roofline, built from facts."""

from collections.abc import Mapping

from ppagent.causes.fill import fill_readings
from ppagent.causes.situation import no_cuda, slot_limit, slots, stages, tensor_parallel
from ppagent.causes.split import layer_split
from ppagent.errors import UserError
from ppagent.evidence.facts import Facts
from ppagent.model.architecture import Architecture, read_architecture
from ppagent.model.deployment import Deployment, even_shares, share_views
from ppagent.model.fill import FillReport, read_fill
from ppagent.model.hardware import Card, find_card
from ppagent.model.levels import Level, levels_from_bench
from ppagent.model.roofline import Roofline
from ppagent.model.slots import FILL_STEP


def measured_levels(facts: Facts) -> tuple[Level, ...]:
    """Load levels for the model: recorded benchmarks, else what the user stated."""
    for name in ("bench.levels", "stated.levels"):
        rows = [_bench_row(row) for row in facts.items(name) if isinstance(row, dict)]
        found = levels_from_bench(rows)
        if found:
            return found
    return ()


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

    Its fill now spans every reading there is: what the levels allow, what the log shows, what was stated.
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
    )


def _fill_now(facts: Facts, report: FillReport) -> tuple[float, float]:
    """What was counted, where the levels allow it: a count says more than a curve. Where they contradict, both."""
    counted = [reading.filled for reading in fill_readings(facts)]
    low, high = report.fill_low - FILL_STEP, report.fill_high + FILL_STEP
    if counted and all(low <= filled <= high for filled in counted):
        return min(counted), max(counted)
    return min([report.fill_low, *counted]), max([report.fill_high, *counted])


def _shares(facts: Facts, count: int, levels: tuple[Level, ...]) -> tuple[tuple[float, ...], ...]:
    split, roofline = layer_split(facts), roofline_of(facts)
    if split is None or len(split.layers) != count:
        return (even_shares(count),)
    top = levels[-1]
    device_ms = None
    if roofline is not None and sum(split.layers) == len(roofline.architecture.layers):
        device_ms = roofline.stage_ms(split.layers, 1)
    return share_views(split.layers, device_ms, top.turn_ms)


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
