"""CG002 batch above the largest captured size

What it is
    Decode graphs are captured up to some batch; the server admits more. Above it each step runs eagerly, is slower,
    requests stay longer, and the batch stays high: a second, slow state that holds itself.

Why it matters
    Nothing else looks wrong: no queue, a calm log, sometimes a clean median. The large batch is a consequence of slow
    steps as much as their cause (sglang#33483: one load, median batch 67 with graphs to 32, 23 with graphs to 128).

Signals
    `cuda graph: False` on decode lines whose `#running-req` is above the largest captured size, `True` below it; in a
    trace, forwards named `step[DECODE bs=...]` above it that launch kernel by kernel.

What refutes it
    Batches at or under the largest size; graphs off altogether (CG001, CG003).

Remedies
    Raise the largest captured size over the batches seen (a restart; each size costs memory and start time), or admit
    fewer. Under pipeline parallelism the micro-batch counts: fill the slots first (PP001).
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.graphs import forced_off, graph_share, size_for, switched_off
from ppagent.causes.situation import graph_ceiling, no_cuda
from ppagent.causes.traced import traced_graph_share
from ppagent.evidence.facts import Facts

FEW_LINES = 2
"""Lines on either side of a border from which on it is no accident."""


class BatchAboveGraphs:
    id = "CG002"
    name = "batch above the largest captured size"
    prior = 0.06
    wants = (
        "start.graph_sizes",
        "decode.running_req.p95",
        "decode.graph_true_share",
        "decode.graph_false_running_min",
        "decode.graph_true_running_max",
        "profile.eager_batch_min",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        without = no_cuda(facts)
        if without is not None:
            return (Observation(f"{without.says}: there is no CUDA graph to exceed", without.cites, 0.005, 0.5),)
        off = switched_off(facts)
        if off is not None:
            return (Observation(f"graphs are off altogether ({off.flag})", off.cites, 0.01, 0.4),)
        forced = forced_off(facts)
        if forced is not None:
            return (Observation(forced.says, forced.cites, 0.02, 0.4),)
        found = [o for o in (_batches(facts), _border(facts), _share(facts)) if o is not None]
        traced = _traced(facts)
        if traced is None:
            return tuple(found)
        # Steps that were traced above the ceiling ran there, whatever the log shows of quieter times.
        return (traced, *(o for o in found if o.supports or not traced.supports))

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        missing = []
        if graph_ceiling(facts) is None and graph_share(facts) is None:
            missing.append(Probe("logs.startup", "the captured sizes stand in the start-up lines", 0))
        if "decode.running_req.p95" not in facts:
            missing.append(Probe("logs.decode", "batch sizes and graph use stand in the decode lines", 0))
        return () if len(self.observe(facts)) > 1 else tuple(missing)

    def advise(self, facts: Facts) -> Advice:
        seen = [facts.number("decode.running_req.max"), facts.number("profile.eager_batch_max")]
        largest = max((batch for batch in seen if batch is not None), default=None)
        if largest is None:
            return Advice()
        size = size_for(largest)
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Capture decode graphs up to batch {size}",
            Change(set={"--cuda-graph-max-bs-decode": str(size)}),
            facts.cite("decode.running_req.max", "profile.eager_batch_max", "start.graph_sizes"),
            risks=("more sizes take more memory and a longer start; check the free memory after capture",),
            verify="`cuda graph: True` on all decode lines; the batch falls at the same offered load",
            rollback="drop the flag and restart",
        )
        eager = Declined("--disable-cuda-graph", "it would make every step as slow as those above the ceiling")
        return Advice((remedy,), (eager,))


def _batches(facts: Facts) -> Observation | None:
    ceiling, largest = graph_ceiling(facts), facts.number("decode.running_req.p95")
    if ceiling is None or largest is None:
        return None
    middle = facts.number("decode.running_req.p50") or largest
    cites = ceiling.cites + facts.cite("decode.running_req.p95")
    says = f"{ceiling.says}, batches of {middle:g} (median) and {largest:g} (p95)"
    if largest > ceiling.value:
        return Observation(says, cites, 0.95, 0.05)
    return Observation(says, cites, 0.03, 0.85)


def _border(facts: Facts) -> Observation | None:
    """Graph use that flips at one batch size is the signature."""
    eager = facts.first("decode.graph_false_running_min", "profile.eager_batch_min")
    graph = facts.first("decode.graph_true_running_max", "profile.graph_batch_max")
    false_from, true_to = (fact.number if fact is not None else None for fact in (eager, graph))
    if eager is None or graph is None or false_from is None or true_to is None:
        return None
    cites = tuple(dict.fromkeys((eager.evidence, graph.evidence)))
    traced = eager.name.startswith("profile.")
    says = f"steps run from a graph up to batch {true_to:g} and without one from batch {false_from:g}"
    if false_from > true_to:
        return Observation(says, cites, 0.8 if traced else 0.9, 0.25 if traced else _by_chance(facts))
    return Observation(says + ", so size is not what decides", cites, 0.15, 0.5)


def _by_chance(facts: Facts) -> float:
    """How likely a few lines fall so by themselves: one alone above all others more easily than several."""
    lines, share = facts.number("decode.lines") or 0.0, facts.number("decode.graph_true_share")
    fewest = 0.0 if share is None else min(share, 1 - share) * lines
    return 0.05 if fewest < FEW_LINES - 0.5 else 0.03


def _traced(facts: Facts) -> Observation | None:
    """Batches of traced decode forwards that were launched kernel by kernel, against what was captured."""
    ceiling, low, high = (
        graph_ceiling(facts),
        facts.number("profile.eager_batch_min"),
        facts.number("profile.eager_batch_max"),
    )
    share = traced_graph_share(facts)
    if ceiling is None or low is None or high is None or share is None:
        return None
    span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    says = f"traced decode forwards without a graph have batches of {span}; {ceiling.says}"
    cites = facts.cite("profile.eager_batch_min") + ceiling.cites
    if low <= ceiling.value:
        return Observation(says + ", so size is not what decides", cites, 0.15, 0.5)
    return Observation(says, cites, 0.97, 0.02) if share.value < 0.8 else Observation(says, cites, 0.8, 0.2)


def _share(facts: Facts) -> Observation | None:
    share = graph_share(facts)
    if share is None:
        return None
    if share.value > 0.97:
        return Observation(share.says, share.cites, 0.03, 0.7)
    if _all_above(facts):
        return Observation(f"{share.says}, all of them above what was captured", share.cites, 0.9, 0.2)
    return Observation(share.says, share.cites, 0.9, 0.4)


def _all_above(facts: Facts) -> bool:
    """Whether graphs were captured, and even the smallest batch without one was above them."""
    ceiling, smallest = graph_ceiling(facts), facts.number("decode.graph_false_running_min")
    captured = "start.graph_sizes" in facts
    return captured and ceiling is not None and smallest is not None and smallest > ceiling.value


CAUSE = BatchAboveGraphs()
