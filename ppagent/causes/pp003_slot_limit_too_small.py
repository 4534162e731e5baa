"""PP003 slot limit too small

What it is
    pp_max_micro_batch_size times the slots is below the load: every slot is at its limit and requests queue, although
    the KV pool has room.

Why it matters
    Waiting requests add their whole wait to the time to first token, while the cards could take larger micro-batches.
    It is what a limit left behind from an experiment at low load does to a burst.

Signals
    `#queue-req` above 0 with low token usage, and `#running-req` of every logged slot pinned at the limit.

What refutes it
    No queue; a KV pool that is full (then KV001); a limit that is the default of max_running_requests // pp_size
    (then the cap itself holds requests back: KV002).

Remedies
    Raise the limit, live up to max_running_requests // pp_size (SGLang refuses more on a running server), and in the
    launch. Larger micro-batches lengthen each step a little; answers and memory do not change.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Observation, Probe, Remedy
from ppagent.causes.situation import Known, running_cap, running_per_slot, slot_limit, slots, spread_limit, stages
from ppagent.evidence.facts import Facts


class SlotLimitTooSmall:
    id = "PP003"
    name = "slot limit too small"
    prior = 0.08
    wants = (
        "args.pp_size",
        "internal.slot_limit",
        "decode.queue_req.mean",
        "decode.queue_share",
        "decode.token_usage.max",
        "decode.running_req.max",
        "metrics.queue_reqs",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring = stages(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.6),)
        found = (_queue(facts), _pinned(facts), _room(facts), _explicit(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if waiting(facts) is not None or ring.value < 2:
            return ()
        return (Probe("logs.decode", "whether requests queue is not known", 0),)

    def advise(self, facts: Facts) -> Advice:
        ring, limit, queue = slots(facts), slot_limit(facts), waiting(facts)
        if ring is None or limit is None or queue is None:
            return Advice()
        wanted = spread_limit(limit.value * ring.value + queue.value, ring.value)
        cites = limit.cites + queue.cites
        change = Change(set={"--pp-max-micro-batch-size": str(wanted)})
        ceiling = _live_ceiling(facts)
        live = ceiling is None or wanted <= ceiling.value
        return Advice(
            (
                Remedy(
                    self.id,
                    "live" if live else "relaunch",
                    f"Let a slot take {wanted} instead of {limit.value:g} requests",
                    change,
                    cites,
                    risks=("each step takes a little longer with larger micro-batches",),
                    verify="#queue-req falls to 0 at the same load and time to first token with it",
                    rollback=f"set it back to {limit.value:g}",
                ),
            )
        )


def waiting(facts: Facts) -> Known | None:
    """Requests that wait, typically: the queue is shared by all slots."""
    for name in ("decode.queue_req.p50", "decode.queue_req.mean", "metrics.queue_reqs", "loads.waiting"):
        fact = facts.get(name)
        if fact is not None and fact.number is not None:
            return Known(fact.number, (fact.evidence,), f"{fact.number:.3g} requests wait")
    return None


def _live_ceiling(facts: Facts) -> Known | None:
    """The largest limit that a running server takes: max_running_requests // pp_size."""
    cap, ring = running_cap(facts), stages(facts)
    if cap is None or ring is None:
        return None
    return Known(max(cap.value // ring.value, 1), cap.cites + ring.cites)


def _queue(facts: Facts) -> Observation | None:
    queue = waiting(facts)
    if queue is None:
        return None
    if queue.value >= 1:
        return Observation(queue.says + " at a typical moment", queue.cites, 0.95, 0.2)
    share, mean = facts.number("decode.queue_share") or 0.0, facts.number("decode.queue_req.mean") or 0.0
    if share > 0.3 and mean >= 1:
        says = f"{mean:.3g} requests wait on average, some in {share:.0%} of the lines"
        return Observation(says, queue.cites, 0.9, 0.25)
    return Observation("hardly anything waits: " + queue.says, queue.cites, 0.03, 0.75)


def _pinned(facts: Facts) -> Observation | None:
    fullest, limit = running_per_slot(facts), slot_limit(facts)
    if fullest is None or limit is None:
        return None
    says = f"{fullest.says}, {limit.says}"
    cites = fullest.cites + limit.cites
    if limit.value - 1 <= fullest.value <= limit.value:
        return Observation(says, cites, 0.9, 0.15)
    if fullest.value < 0.9 * limit.value:
        return Observation(says, cites, 0.05, 0.75)
    return None


def _room(facts: Facts) -> Observation | None:
    name = "decode.token_usage.p95" if "decode.token_usage.p95" in facts else "metrics.token_usage"
    usage = facts.number(name)
    if usage is None:
        return None
    if usage > 0.9:
        return Observation(f"the KV pool is {usage:.0%} used, so room is what lacks", facts.cite(name), 0.1, 0.5)
    return Observation(f"the KV pool has room: {usage:.0%} used", facts.cite(name), 0.9, 0.7)


def _explicit(facts: Facts) -> Observation | None:
    """Whether the limit is below what the cap alone would give; otherwise the cap holds requests back."""
    limit, ceiling = slot_limit(facts), _live_ceiling(facts)
    asked = facts.get("internal.slot_limit")
    asked = asked or facts.arg("pp_max_micro_batch_size") or facts.arg("max_micro_batch_size")
    if limit is None or ceiling is None or asked is None:
        return None
    if limit.value < ceiling.value:
        says = f"the limit {limit.value:g} is set below the default of {ceiling.value:g}"
        return Observation(says, limit.cites + ceiling.cites, 0.9, 0.25)
    says = f"the limit {limit.value:g} is the default, so the running cap is what binds"
    return Observation(says, limit.cites + ceiling.cites, 0.1, 0.6)


CAUSE = SlotLimitTooSmall()
