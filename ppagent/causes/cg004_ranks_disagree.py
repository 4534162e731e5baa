"""CG004 ranks disagree on graphs

What it is
    With DP attention a decode step runs from a graph only if all ranks can: the sum over ranks (or the largest) is
    compared with the captured sizes, and a rank that is in prefill keeps the others eager.

Why it matters
    Each rank's batch looks well under the ceiling, so the flag looks right: 50 requests on each of 8 ranks count as
    400. Long dispatch or collective times are then ranks waiting for each other.

Signals
    `cuda graph: False` on decode lines of ranks whose `#running-req` is under the largest captured size, with DP
    attention on; the sum over ranks above it.

What refutes it
    No DP attention; graphs off by a setting; every line `True`.

Remedies
    Size the largest captured batch by the sum over ranks; balance requests over the ranks. A restart, and memory.
"""

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.graphs import forced_off, graph_share, size_for, switched_off
from ppagent.causes.situation import data_parallel, graph_ceiling, no_cuda
from ppagent.evidence.facts import Facts


class RanksDisagree:
    id = "CG004"
    name = "ranks disagree on graphs"
    prior = 0.04
    wants = ("args.dp_size", "args.enable_dp_attention", "decode.by_dp", "decode.graph_true_share", "start.graph_sizes")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        without = no_cuda(facts)
        if without is not None:
            return (Observation(f"{without.says}: there is no CUDA graph", without.cites, 0.005, 0.5),)
        ranks = data_parallel(facts)
        if ranks is None:
            return ()
        attention = facts.arg_flag("enable_dp_attention") or (facts.arg_number("attn_dp_size") or 1) > 1
        if ranks.value < 2 or not attention:
            return (Observation("there is no DP attention", ranks.cites, 0.005, 0.6),)
        off = switched_off(facts)
        forced = forced_off(facts)
        if off is not None or forced is not None:
            cites = off.cites if off is not None else forced.cites if forced is not None else ()
            return (Observation("graphs are off by a setting", cites, 0.02, 0.4),)
        found = (_share(facts), _sum(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.decode", "decode lines of each DP rank show batch and graph use", 0),)

    def advise(self, facts: Facts) -> Advice:
        total = _total_running(facts)
        if total is None:
            return Advice()
        size = size_for(total)
        return Advice(
            (
                Remedy(
                    self.id,
                    "relaunch",
                    f"Capture decode graphs up to the sum over ranks: {size}",
                    Change(set={"--cuda-graph-max-bs-decode": str(size)}),
                    facts.cite("decode.by_dp", "start.graph_sizes"),
                    risks=("more sizes take more memory and a longer start",),
                    verify="`cuda graph: True` on the decode lines of every rank",
                    rollback="drop the flag and restart",
                ),
            )
        )


def _total_running(facts: Facts) -> float | None:
    rows = [row for row in facts.table("decode.by_dp").values() if isinstance(row, dict)]
    running = [value for row in rows if isinstance(value := row.get("running"), int | float)]
    return float(sum(running)) if running else None


def _share(facts: Facts) -> Observation | None:
    share = graph_share(facts)
    if share is None:
        return None
    if share.value > 0.97:
        return Observation(share.says, share.cites, 0.02, 0.7)
    return Observation(share.says, share.cites, 0.9, 0.25)


def _sum(facts: Facts) -> Observation | None:
    ceiling, total = graph_ceiling(facts), _total_running(facts)
    largest = facts.number("decode.running_req.p95")
    if ceiling is None or total is None or largest is None:
        return None
    cites = ceiling.cites + facts.cite("decode.by_dp", "decode.running_req.p95")
    says = f"{ceiling.says}; a rank runs up to {largest:g}, all ranks together {total:g}"
    share = graph_share(facts)
    eager = share is not None and share.value < 0.9
    if largest <= ceiling.value < total and eager:
        return Observation(says, cites, 0.95, 0.03)
    if largest > ceiling.value:
        return Observation(says + ", so single ranks already exceed it", cites, 0.1, 0.4)
    return Observation(says, cites, 0.2, 0.5)


CAUSE = RanksDisagree()
