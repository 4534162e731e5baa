"""Quantities that several causes need, worked out from facts once and with the evidence they stand on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.evidence.facts import Facts

Cites = tuple[str, ...]

MOST_RANKS = 1024


@dataclass(frozen=True)
class Known:
    """A worked-out number, what it rests on, and how to say it."""

    value: float
    cites: Cites
    says: str = ""


@dataclass(frozen=True)
class Level:
    """One measured load level."""

    concurrency: float
    tokens_per_s: float
    turn_ms: float
    """Time in which every request in flight gains one token: inter-token latency where known, else C / X."""
    from_latency: bool
    """Whether `turn_ms` is a measured token latency (free of prefill, think time and ramps)."""
    cites: Cites


KEPT_UP = 0.6
"""Share of its clients' requests in flight below which a level is known by what was in flight."""
FEW = 3
"""From so many on, a mean number of requests in flight is told as a whole number."""


def arguments_known(facts: Facts) -> bool:
    """Whether the server's arguments were seen at all, so that an absent one can be taken at its default. A launch
    with variables in it whose content nobody knows does not tell what is absent, nor does a log's line that was cut."""
    cut = facts.flag("start.args_cut") is True and not any(name.startswith("internal.") for name in facts)
    if not cut and any(name.startswith("args.") for name in facts):
        return True
    return not facts.items("launch.untold") and any(name.startswith("launch.") for name in facts)


def _arg(facts: Facts, field: str, default: float) -> Known | None:
    fact = facts.numeric_arg(field)
    if fact is not None and fact.number is not None:
        return Known(fact.number, (fact.evidence,), f"{field} {fact.number:g}")
    if not arguments_known(facts) or given_unread(facts, field):
        return None
    cites = facts.cite("launch.command", "args.model_path", "args.tp_size")[:1]
    return Known(default, cites, f"{field} {default:g} (default)") if cites else None


def given_unread(facts: Facts, field: str) -> bool:
    """Whether the launch sets a number that cannot be read from it (`--tp $TP`, `--tp <N>`): its default is not it."""
    fact = facts.get(f"launch.{field}")
    return fact is not None and isinstance(fact.value, str) and fact.number is None


def _ranks(facts: Facts, field: str, tag: str) -> Known | None:
    """A number of ranks; None for one that no server starts with. Where the arguments do not state it, the tags of the
    log do: a scheduler's lines have none for a size of one (`run_scheduler_process`, 0.4.7 to 0.5.23; before that a TP
    tag was always there)."""
    tags = facts.get("log.tags") if facts.numeric_arg(field) is None else None
    if tags is not None and tag not in facts.items("log.tags"):
        return Known(1, (tags.evidence,), f"the log's lines have no {tag} tag")
    if tags is not None and tag != "TP":
        return None
    known = _arg(facts, field, 1)
    return known if known is not None and 1 <= known.value <= MOST_RANKS else None


def stages(facts: Facts) -> Known | None:
    """Pipeline stages (pp_size)."""
    return _ranks(facts, "pp_size", "PP")


def tensor_parallel(facts: Facts) -> Known | None:
    """Tensor-parallel ranks of one stage (tp_size)."""
    return _ranks(facts, "tp_size", "TP")


def data_parallel(facts: Facts) -> Known | None:
    """Data-parallel ranks (dp_size)."""
    return _ranks(facts, "dp_size", "DP")


def slots(facts: Facts) -> Known | None:
    """Micro-batch slots of the ring: pp_size, and pp_async_batch_depth more from 0.5.7 (scheduler_pp_mixin.py)."""
    known = stages(facts)
    if known is None:
        return None
    depth = facts.arg_number("pp_async_batch_depth") or 0.0
    depth = depth if 0 <= depth <= MOST_RANKS else 0.0
    cites = known.cites + (facts.cite_args("pp_async_batch_depth") if depth else ())
    return Known(known.value + depth, cites, f"{known.value + depth:g} slots")


def running_cap(facts: Facts) -> Known | None:
    """max_running_requests of one scheduler as it took effect, else as it was asked for."""
    fact = facts.first("internal.max_running_requests", "start.max_running_requests")
    fact = fact or facts.numeric_arg("max_running_requests")
    if fact is None or fact.number is None:
        return None
    return Known(fact.number, (fact.evidence,), f"max_running_requests {fact.number:g}")


def slot_limit(facts: Facts) -> Known | None:
    """Requests that one slot admits: the scheduler's own value, the flag, else max_running_requests // pp_size."""
    fact = facts.first("internal.slot_limit")
    fact = fact or facts.numeric_arg("pp_max_micro_batch_size") or facts.numeric_arg("max_micro_batch_size")
    if fact is not None and fact.number is not None:
        return Known(fact.number, (fact.evidence,), f"slot limit {fact.number:g}")
    cap, ring = running_cap(facts), stages(facts)
    if cap is None or ring is None or ring.value < 1:
        return None
    limit = max(int(cap.value // ring.value), 1)
    return Known(limit, cap.cites + ring.cites, f"slot limit {limit} = {cap.value:g} // {ring.value:g} (default)")


def levels(facts: Facts) -> tuple[Level, ...]:
    """Measured load levels, lowest concurrency first: recorded benchmarks, else what the user stated."""
    for name in ("bench.levels", "stated.levels"):
        rows = [_level(row, facts.cite(name)) for row in facts.items(name) if isinstance(row, dict)]
        found = sorted((level for level in rows if level is not None), key=lambda level: level.concurrency)
        if found:
            return tuple(found)
    return ()


def _level(row: Mapping[str, object], cites: Cites) -> Level | None:
    concurrency, rate = _in_flight_of(row), row.get("output_throughput")
    if not isinstance(concurrency, int | float) or not isinstance(rate, int | float) or not concurrency or not rate:
        return None
    latencies = [v for key in ("mean_itl_ms", "mean_tpot_ms") if isinstance(v := row.get(key), int | float) and v > 0]
    turn_ms = float(latencies[0]) if latencies else 1000 * concurrency / rate
    return Level(float(concurrency), float(rate), turn_ms, bool(latencies), cites)


def _in_flight_of(row: Mapping[str, object]) -> object:
    """The clients of a level, or the requests that they kept in flight where that were far fewer."""
    asked, kept = row.get("concurrency"), row.get("achieved_concurrency")
    if isinstance(asked, int | float) and isinstance(kept, int | float) and 0 < kept < KEPT_UP * asked:
        return max(1.0, kept)
    return asked


def in_flight(facts: Facts) -> Known | None:
    """Requests in flight at the busiest time seen, by the most direct source there is.

    A benchmark's (achieved) concurrency, what the user stated, or Little's law over the server's own counters.
    """
    measured = levels(facts)
    if measured:
        top = measured[-1]
        return Known(top.concurrency, top.cites, f"{top.concurrency:g} requests in flight (load level)")
    fact = facts.first("stated.in_flight", "metrics.in_flight")
    if fact is not None and fact.number:
        if fact.name != "metrics.in_flight":
            return Known(fact.number, (fact.evidence,), f"{fact.number:.3g} requests in flight")
        whole = round(fact.number) if fact.number >= FEW else round(fact.number, 1)
        return Known(whole, (fact.evidence,), f"about {whole:g} requests in flight (mean {fact.number:.3g})")
    return None


def running_per_slot(facts: Facts) -> Known | None:
    """Requests in the fullest micro-batch seen: the largest `#running-req` of stage 0 that is no outlier (p95)."""
    fact = facts.first("decode.running_req.p95", "decode.running_req.max", "metrics.running_reqs", "loads.running")
    if fact is None or fact.number is None:
        return None
    return Known(fact.number, (fact.evidence,), f"#running-req up to {fact.number:g} on stage 0")


def graph_ceiling(facts: Facts) -> Known | None:
    """Largest captured decode batch: the captured sizes, else the flag that sets it."""
    sizes = [s for s in facts.items("start.graph_sizes") if isinstance(s, int)]
    if sizes:
        return Known(max(sizes), facts.cite("start.graph_sizes"), f"largest captured batch {max(sizes)}")
    for field in ("cuda_graph_max_bs_decode", "cuda_graph_max_bs"):
        fact = facts.arg(field)
        if fact is not None and fact.number:
            return Known(fact.number, (fact.evidence,), f"{field} {fact.number:g}")
    return None


def no_cuda(facts: Facts) -> Known | None:
    """Known where the server runs on no CUDA device, so that CUDA graphs mean nothing."""
    fact = facts.arg("device")
    if fact is not None and isinstance(fact.value, str) and fact.value not in ("cuda", ""):
        return Known(0, (fact.evidence,), f"device is {fact.value}")
    label = facts.text("decode.graph_label")
    if label is not None and label != "cuda":
        return Known(0, facts.cite("decode.graph_label"), f"decode lines speak of a {label} graph")
    return None


def spread_limit(requests: float, ring_slots: float) -> int:
    """Slot limit that lets `requests` spread over `ring_slots` without a queue."""
    return max(1, math.ceil(requests / ring_slots))
