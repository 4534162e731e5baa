"""KV002 admission capped

What it is
    max_running_requests holds requests back in the queue while the KV pool has room for them.

Why it matters
    Waiting requests add their whole wait to the time to first token, and the cards decode smaller batches than they
    could. It looks like a saturated server and is none.

Signals
    `#queue-req` above 0 in most decode lines, low token usage, and the running requests standing at the cap. Under a
    pipeline `#running-req` is of one micro-batch, so the slots together are held against the cap.

What refutes it
    No queue; a full pool (KV001); running requests well below the cap (KV005, or a slot limit: PP003); a slot limit
    that keeps the slots together below the cap (PP003); a cap that speculation set on its own (SP002).

Remedies
    A cap for the load there is, within what the pool holds. Larger batches make a step a little longer, and may need
    a larger decode graph.
"""

from ppagent.causes.admission import FULL, at_cap, cap, pipelined, pool_peak, queue, running, standing_queue, wanted_cap
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.situation import graph_ceiling, running_per_slot, slot_limit, slots
from ppagent.causes.speculation import implicit_cap
from ppagent.evidence.facts import Facts

ROOMY = 0.5
"""Below this highest usage it is not the pool for which requests wait."""


class AdmissionCapped:
    id = "KV002"
    name = "admission capped"
    prior = 0.06
    wants = (
        "decode.queue_req.mean",
        "decode.queue_share",
        "decode.token_usage.max",
        "decode.running_req.p95",
        "internal.max_running_requests",
        "start.max_running_requests",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        held = _held_back(facts) or _room_to_spare(facts)
        found = (_no_queue(facts), _out_of_reach(facts), _pool(facts), held, _drafts(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if queue(facts) is None:
            return (Probe("logs.decode", "whether requests wait is not known", 0),)
        if standing_queue(facts) and cap(facts) is None:
            return (Probe("http.info", "the running cap in force is not known", 1),)
        if standing_queue(facts) and running(facts) is None:
            return (Probe("bench.results", "how many requests run in all slots together is not known", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        most, waits = cap(facts), queue(facts)
        if most is None or waits is None:
            return Advice()
        total = wanted_cap(facts)
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Let {total} requests run: {waits.says} while {most.says}",
            Change(set={"--max-running-requests": str(total)}),
            most.cites + waits.cites,
            risks=_risks(facts, total),
            verify="#queue-req falls to 0 and #running-req rises at the same load, without retractions",
            rollback=f"the previous cap ({most.value:g} for each scheduler)",
        )
        room = pool_peak(facts)
        why = "the KV pool is not what is short" + (f": {room.says}" if room is not None else "")
        return Advice((remedy,), (Declined("--mem-fraction-static", why, room.cites if room is not None else ()),))


def _risks(facts: Facts, total: int) -> tuple[str, ...]:
    risks = ["larger batches make every step a little longer"]
    ceiling = graph_ceiling(facts)
    if ceiling is not None and not pipelined(facts) and total > ceiling.value:
        risks.append(f"{ceiling.says}: a batch above it runs without a graph unless that is raised too")
    return tuple(risks)


def _no_queue(facts: Facts) -> Observation | None:
    known = queue(facts)
    if known is None or standing_queue(facts) is not False:
        return None
    return Observation(f"nothing is held back: {known.says}", known.cites, 0.02, 0.75)


def _out_of_reach(facts: Facts) -> Observation | None:
    """A slot limit below the cap's share binds first, so the cap is never reached."""
    ring, limit, most = slots(facts), slot_limit(facts), cap(facts)
    if ring is None or ring.value < 2 or limit is None or most is None:
        return None
    if limit.value * ring.value >= 0.97 * most.value - ring.value:
        return None
    together = f"{ring.value:g} slots together stay below the cap of {most.value:g}"
    says = f"a slot may hold {limit.value:g} requests, and {together}"
    return Observation(says, limit.cites + ring.cites + most.cites, 0.02, 0.6)


def _pool(facts: Facts) -> Observation | None:
    peak = pool_peak(facts)
    if peak is None or peak.value < FULL or not standing_queue(facts):
        return None
    return Observation(f"requests wait for room: {peak.says}", peak.cites, 0.1, 0.5)


def _held_back(facts: Facts) -> Observation | None:
    """The decisive comparison: what runs against what may run, while others wait and the pool has room."""
    waits, most, peak = queue(facts), cap(facts), pool_peak(facts)
    if waits is None or most is None or standing_queue(facts) is not True or (peak and peak.value >= FULL):
        return None
    runs, pinned = running(facts), at_cap(facts)
    if runs is None or pinned is None:
        return _slots_at_default_limit(facts)
    says = f"{runs.says}, cap {most.value:g}, and {waits.says}"
    cites = tuple(dict.fromkeys(runs.cites + most.cites + waits.cites))
    if pinned:
        return Observation(says, cites, 0.95, 0.012)
    return Observation(says, cites, 0.04, 0.7) if runs.value < 0.9 * most.value else None


def _room_to_spare(facts: Facts) -> Observation | None:
    """Without a known cap: requests wait beside a pool that is half empty, so something else keeps them out."""
    waits, peak = queue(facts), pool_peak(facts)
    if waits is None or peak is None or cap(facts) is not None or pipelined(facts) is not False:
        return None
    if standing_queue(facts) is not True or peak.value >= ROOMY:
        return None
    return Observation(f"{waits.says}, though {peak.says}", waits.cites + peak.cites, 0.9, 0.12)


def _slots_at_default_limit(facts: Facts) -> Observation | None:
    """Under a pipeline a slot at the default limit (cap // pp_size) means that the cap binds."""
    fullest, limit, most, waits = running_per_slot(facts), slot_limit(facts), cap(facts), queue(facts)
    ring = facts.arg_number("pp_size") or 1.0
    if fullest is None or limit is None or most is None or waits is None or limit.value != max(most.value // ring, 1):
        return None
    says = f"{fullest.says}, {limit.says}, and {waits.says}"
    cites = tuple(dict.fromkeys(fullest.cites + limit.cites + waits.cites))
    if fullest.value >= limit.value:
        return Observation(says, cites, 0.95, 0.015)
    return Observation(says, cites, 0.05, 0.6) if fullest.value < 0.8 * limit.value else None


def _drafts(facts: Facts) -> Observation | None:
    implied = implicit_cap(facts)
    if implied is None or standing_queue(facts) is False:
        return None
    return Observation(f"nobody asked for this cap: {implied.says}", implied.cites, 0.1, 0.5)


CAUSE = AdmissionCapped()
