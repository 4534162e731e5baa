"""The load as the client offers it: kept up or not, and whether the server still answers it in proportion."""

import math

from ppagent.causes.admission import cap, pipelined, running
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import Known, levels
from ppagent.evidence.facts import Facts


def growth(facts: Facts) -> Known | None:
    """How the speed grows with the concurrency between the two highest load levels, as an exponent: 1 is in
    proportion, 0 is not at all."""
    measured = [level for level in levels(facts) if level.concurrency >= 1 and level.tokens_per_s > 0]
    tops = sorted({level.concurrency for level in measured})
    if len(tops) < 2:
        return None
    low = max(level.tokens_per_s for level in measured if level.concurrency == tops[-2])
    high = max(level.tokens_per_s for level in measured if level.concurrency == tops[-1])
    exponent = math.log(high / low) / math.log(tops[-1] / tops[-2])
    says = f"{low:.4g} tok/s at {tops[-2]:g} and {high:.4g} at {tops[-1]:g} in flight"
    return Known(exponent, measured[-1].cites, says)


def below_asked(facts: Facts) -> Known | None:
    """Concurrency kept up over the one asked for, at the highest level that tells both; 1 is kept up."""
    for row in bench_rows(facts):
        asked, kept = number(row.get("concurrency")), number(row.get("achieved_concurrency"))
        if asked >= 2 and kept > 0:
            says = f"the client kept {kept:.3g} of {asked:g} requests in flight"
            return Known(kept / asked, facts.cite("bench.levels"), says)
    return None


def hardly_any(facts: Facts) -> Known | None:
    """Known where less than one request is in flight on average, by the server's own counters."""
    load = facts.number("metrics.in_flight")
    if load is None or load >= 1:
        return None
    return Known(load, facts.cite("metrics.in_flight"), f"{load:.2g} requests in flight on average")


def cap_use(facts: Facts) -> Known | None:
    """Running requests over the cap, where a log line shows all of them (no pipeline)."""
    runs, most = running(facts), cap(facts)
    if pipelined(facts) or runs is None or most is None or most.value <= 0:
        return None
    says = f"{runs.value:g} run where {most.value:g} may"
    return Known(runs.value / most.value, runs.cites + most.cites, says)
