"""Admission worked out once: who waits, how full the KV pool is, how many run, and which bound they run into."""

import math

from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import Known, data_parallel, in_flight, running_cap, stages
from ppagent.evidence.facts import Facts

STANDING_SHARE = 0.2
"""From this share of decode lines with a queue on, requests wait as a rule and not just when a burst arrives."""

FULL = 0.95
"""From this usage of the pool on, the next request or the next page of a running one may not fit."""


def queue(facts: Facts) -> Known | None:
    """Requests that wait at a typical moment; mean over decode lines, else over scrapes, else one snapshot."""
    fact = facts.first("decode.queue_req.mean", "decode.queue_req.p50", "metrics.queue_reqs", "loads.waiting")
    if fact is None or fact.number is None:
        return None
    share = facts.number("decode.queue_share")
    where = "" if share is None else f", in {share:.0%} of the decode lines"
    cites = tuple(dict.fromkeys((fact.evidence, *facts.cite("decode.queue_share"))))
    return Known(fact.number, cites, f"{fact.number:.3g} requests wait on average{where}")


def standing_queue(facts: Facts) -> bool | None:
    """Whether requests wait as a rule. None where that is not known, or where only bursts wait."""
    share = facts.number("decode.queue_share")
    if share is not None:
        return True if share >= STANDING_SHARE else (False if share <= 0.05 else None)
    known = queue(facts)
    if known is None:
        return None
    return True if known.value >= 1 else (False if known.value <= 0.1 else None)


def pool_peak(facts: Facts) -> Known | None:
    """Highest usage seen of the fullest KV pool, 0 to 1. What the prefix cache could give up does not count as used."""
    for name, what in (
        ("decode.token_usage.max", "at its highest"),
        ("decode.token_usage.p95", "in 95 % of the lines at most"),
        ("metrics.token_usage", "on average"),
        ("loads.token_usage", "in one snapshot"),
    ):
        value = facts.number(name)
        if value is not None:
            return Known(value, facts.cite(name), f"the KV pool is {value:.0%} used {what}")
    return None


def pool_typical(facts: Facts) -> Known | None:
    """Usage of the fullest KV pool at a typical moment, 0 to 1."""
    fact = facts.first("decode.token_usage.p50", "decode.token_usage.mean", "metrics.token_usage", "loads.token_usage")
    if fact is None or fact.number is None:
        return None
    return Known(fact.number, (fact.evidence,), f"the KV pool is typically {fact.number:.0%} used")


def retractions(facts: Facts) -> Known | None:
    """How often running requests were thrown back into the queue: log lines, else the counter between scrapes."""
    lines = facts.get("trouble.kv_pool_full")
    if lines is not None and lines.number:
        return Known(lines.number, (lines.evidence,), f"{lines.number:g} lines say that requests were retracted")
    counter = facts.get("metrics.retracted_reqs")
    if counter is not None and counter.number is not None:
        counted = f"{counter.number:g} requests" if counter.number else "no request"
        says = f"{counted} {'were' if counter.number else 'was'} retracted, says the server's counter"
        return Known(counter.number, (counter.evidence,), says)
    read = facts.get("log.lines")
    if read is None or not read.number or not facts.number("decode.lines"):
        return None
    return Known(0, (read.evidence,), f"no retraction among {read.number:g} lines of the log")


def pipelined(facts: Facts) -> bool | None:
    """Whether `#running-req` is of one micro-batch only: by the arguments, else by the rank tags of the log."""
    ring = stages(facts)
    if ring is not None:
        return ring.value > 1
    return "PP" in facts.items("log.tags") if "log.tags" in facts else None


def cap(facts: Facts) -> Known | None:
    """max_running_requests of one scheduler. A requested value is for all data-parallel ranks together
    (scheduler start-up divides it by the attention DP size, 0.4.7 to 0.5.23)."""
    known, ranks = running_cap(facts), data_parallel(facts)
    if known is None or facts.first("internal.max_running_requests", "start.max_running_requests") is not None:
        return known
    if ranks is None or ranks.value < 2:
        return known
    share = max(1.0, known.value // ranks.value)
    return Known(share, known.cites + ranks.cites, f"{known.says} over {ranks.value:g} DP ranks: {share:g} each")


def running(facts: Facts) -> Known | None:
    """Requests that one scheduler runs at its busiest, all its micro-batches together.

    Without a pipeline that is `#running-req`. With one, a log line shows a single slot, so the total is what is in
    flight less what waits; None where that is not known.
    """
    if not pipelined(facts):
        fact = facts.first("decode.running_req.p95", "decode.running_req.max", "metrics.running_reqs", "loads.running")
        if fact is None or fact.number is None:
            return None
        return Known(fact.number, (fact.evidence,), f"#running-req up to {fact.number:g}")
    load, waits, ranks = in_flight(facts), queue(facts), data_parallel(facts)
    if load is None or waits is None:
        return None
    total = max(0.0, load.value / (ranks.value if ranks is not None else 1) - waits.value)
    says = f"{load.value:.3g} in flight less {waits.value:.3g} waiting: {total:.3g} running"
    return Known(total, load.cites + waits.cites, says)


def at_cap(facts: Facts) -> bool | None:
    """Whether the running requests stand at the cap. One below counts: a chunked prompt occupies a place of its own."""
    runs, most = running(facts), cap(facts)
    if runs is None or most is None:
        return None
    slack = max(1.0 if most.value >= 4 else 0.0, 0.03 * most.value)
    return runs.value >= most.value - slack


def wanted_cap(facts: Facts) -> int:
    """A running cap for the load there is, all data-parallel ranks together: what runs and waits, bounded by what the
    pool would hold at its present use of tokens a request."""
    most, waits, load, ranks = cap(facts), queue(facts), in_flight(facts), data_parallel(facts)
    each = ranks.value if ranks is not None and ranks.value > 1 else 1.0
    now = most.value if most is not None else 1.0
    demand = now + max(1.0, waits.value if waits is not None else 1.0)
    worst = facts.number("decode.queue_req.max")
    demand = max(demand, load.value / each if load is not None else 0.0, now + (worst or 0.0))
    peak = pool_peak(facts)
    if peak is not None and peak.value > 0:
        demand = max(now + 1, min(demand, now * 0.9 / peak.value))
    return int(math.ceil(demand) * each)


def requests_that_fit(facts: Facts) -> Known | None:
    """Requests of one scheduler whose prompts and answers fill the KV pool to 95 %, from the measured lengths,
    else from how many ran when it was full."""
    pool = facts.first("start.max_total_tokens", "internal.memory.token_capacity")
    lengths = _tokens_per_request(facts)
    if pool is not None and pool.number and lengths is not None:
        most = max(1.0, 0.95 * pool.number // lengths.value)
        says = f"{pool.number:g} tokens hold {most:g} requests of {lengths.value:g} tokens"
        return Known(most, (pool.evidence, *lengths.cites), says)
    peak, runs = pool_peak(facts), running(facts)
    if peak is None or peak.value < FULL or runs is None or runs.value < 2:
        return None
    most = max(1.0, 0.85 * runs.value // 1)
    return Known(most, peak.cites + runs.cites, f"the pool was full with {runs.value:.3g} running")


def _tokens_per_request(facts: Facts) -> Known | None:
    for row in bench_rows(facts):
        prompt, answer = number(row.get("input_len")), number(row.get("output_len"))
        if prompt > 0 and answer > 0:
            return Known(prompt + answer, facts.cite("bench.levels"))
    return None
