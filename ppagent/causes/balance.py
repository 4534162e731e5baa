"""Data-parallel ranks held against each other: running, waiting and cached."""

from collections.abc import Mapping

from ppagent.causes.sighting import version
from ppagent.causes.situation import Known
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

BALANCES_BY_LOAD_FROM = "0.5.8"
"""From this version load_balance_method takes total_requests and total_tokens; before, shortest_queue and
minimum_tokens (server arguments, read in 0.5.5 and 0.5.8)."""

SOME = 4.0
"""Mean requests a rank from which a difference between ranks is more than chance."""


def spread(facts: Facts) -> Known | None:
    """Running (and waiting) requests of the fullest DP rank over the mean of all; 1 is even."""
    rows, cites = _carried(facts)
    if len(rows) < 2:
        return None
    mean = sum(rows.values()) / len(rows)
    if mean <= 0:
        return None
    fullest, emptiest = max(rows, key=rows.__getitem__), min(rows, key=rows.__getitem__)
    says = (
        f"{fullest} carries {rows[fullest]:.3g} requests and {emptiest} {rows[emptiest]:.3g}, "
        f"{rows[fullest] / mean:.2f} times the mean at the most"
    )
    ratio = rows[fullest] / mean
    if mean < SOME:
        ratio = min(ratio, 1.4)  # a handful of requests cannot be dealt out evenly
    return Known(ratio, cites, says)


def even(facts: Facts) -> bool:
    """Whether the ranks carry about the same."""
    known = spread(facts)
    return known is not None and known.value <= 1.25


def queue_beside_idle(facts: Facts) -> Known | None:
    """Known where requests wait on one rank while another has no queue and runs at most half as many."""
    waits, cites = _column(facts, "queue", "metrics.queue_reqs_by_dp", "waiting")
    runs, run_cites = _column(facts, "running", "metrics.running_reqs_by_dp", "running")
    for full, waiting in waits.items():
        for idle in waits:
            if waiting >= 1 and waits[idle] < 0.1 and runs.get(idle, 0.0) <= 0.5 * runs.get(full, 0.0):
                says = f"{waiting:.3g} requests wait on {full} while {idle} has no queue"
                return Known(waiting, tuple(dict.fromkeys(cites + run_cites)), says)
    return None


def cached_spread(facts: Facts) -> Known | None:
    """Largest difference between DP ranks of the share of prompt tokens found in the cache."""
    shares = _numbers(facts.table("prefill.by_dp"), "cached_share")
    if len(shares) < 2:
        return None
    high, low = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    says = f"{high} finds {shares[high]:.0%} of its prompts in the cache and {low} {shares[low]:.0%}"
    return Known(shares[high] - shares[low], facts.cite("prefill.by_dp"), says)


def other_method(facts: Facts) -> str:
    """A load_balance_method that looks at what the ranks carry, and is not the one in use; valid for the version."""
    now = facts.arg_text("load_balance_method")
    if at_least(version(facts), BALANCES_BY_LOAD_FROM) is False:
        return "shortest_queue" if now != "shortest_queue" else "minimum_tokens"
    return "total_tokens" if now != "total_tokens" else "total_requests"


def _carried(facts: Facts) -> tuple[dict[str, float], tuple[str, ...]]:
    """Requests running and waiting, by rank, from the first source that has more than one rank."""
    for name, fields in (("decode.by_dp", ("running", "queue")), ("loads.by_dp", ("running", "waiting"))):
        runs, waits = (_numbers(facts.table(name), field) for field in fields)
        if len(runs) > 1:
            return {rank: runs[rank] + waits.get(rank, 0.0) for rank in runs}, facts.cite(name)
    runs, waits = facts.numbers("metrics.running_reqs_by_dp"), facts.numbers("metrics.queue_reqs_by_dp")
    if len(runs) > 1:
        total = {rank: runs[rank] + waits.get(rank, 0.0) for rank in runs}
        return total, facts.cite("metrics.running_reqs_by_dp", "metrics.queue_reqs_by_dp")
    return {}, ()


def _column(facts: Facts, field: str, metric: str, load_field: str) -> tuple[dict[str, float], tuple[str, ...]]:
    for name, column in (("decode.by_dp", field), ("loads.by_dp", load_field)):
        rows = _numbers(facts.table(name), column)
        if len(rows) > 1:
            return rows, facts.cite(name)
    return facts.numbers(metric), facts.cite(metric)


def _numbers(table: Mapping[str, object], field: str) -> dict[str, float]:
    rows = {}
    for rank, row in table.items():
        value = row.get(field) if isinstance(row, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            rows[rank] = float(value)
    return rows
