"""CP001 host-bound scheduler

What it is
    Python and kernel launches take longer per step than the cards need for it, although decode graphs are on: the
    scheduler's single thread sets the pace.

Why it matters
    The cards idle between steps, and no setting of batches or memory helps. Under a pipeline it is worse, since the
    overlap scheduler is always off there.

Signals
    A scheduler process at a full core while the cards spend little of the time in forwards, with slots filled; in a
    trace, cards that idle while the host chooses the next batch or works on a result; a power-saving frequency
    governor; more busy threads than the host has; the overlap scheduler switched off by flag without a pipeline.

What refutes it
    Cards that are busy most of the time; a scheduler well below a full core under load. A full core alone proves
    little, since the loop polls. Graphs that are off (CG001) or slots that are empty (PP001) explain idle cards first.

Remedies
    Cores of its own and the performance governor; the overlap scheduler where it was switched off.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.host import (
    busiest_scheduler,
    crowded,
    decodes_eagerly,
    device_busy,
    overlap_off,
    slow_governor,
)
from ppagent.causes.situation import no_cuda
from ppagent.causes.traced import held_by_host
from ppagent.evidence.facts import Facts


class HostBound:
    id = "CP001"
    name = "host-bound scheduler"
    prior = 0.08
    wants = (
        "metrics.scheduler_cpu",
        "metrics.forward_busy",
        "metrics.fwd_occupancy",
        "host.scheduler_cpu_percent",
        "host.governor",
        "decode.graph_true_share",
        "profile.gap_scheduling",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if no_cuda(facts) is not None:
            return ()
        found = (
            _cards(facts),
            _thread(facts),
            _traced(facts),
            _governor(facts),
            _crowded(facts),
            _overlap(facts),
            _eager(facts),
        )
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if no_cuda(facts) is not None:
            return ()
        found = []
        if device_busy(facts) is None:
            found.append(Probe("http.metrics", "how much of the time the cards compute is not known", 1))
        if busiest_scheduler(facts) is None:
            found.append(Probe("host.processes", "the scheduler thread's use of its core is not known", 2))
        return tuple(found)

    def advise(self, facts: Facts) -> Advice:
        thread, off, governor = busiest_scheduler(facts), overlap_off(facts), slow_governor(facts)
        cites = tuple(dict.fromkeys(c for known in (thread, governor, off) if known is not None for c in known.cites))
        busy = device_busy(facts)
        cites = cites or (busy.cites if busy is not None else ())
        remedies = [] if off is None else [_overlap_on(self.id, off.cites)]
        remedies.append(_quiet_host(self.id, cites, governor is not None))
        why = "graphs cover the batch already; what is slow is between steps"
        declined = Declined("--cuda-graph-max-bs-decode", why, cites)
        return Advice(tuple(remedies), (declined,))


def _overlap_on(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "relaunch",
        "Let the host prepare the next step while the cards work on this one",
        Change(unset=("--disable-overlap-schedule",)),
        cites,
        risks=("a few features switch it off again; the start-up log says so",),
        verify="the decode throughput rises at the same load",
        rollback="--disable-overlap-schedule",
    )


def _quiet_host(cause: str, cites: tuple[str, ...], governor: bool) -> Remedy:
    first = "Set the performance governor, and give" if governor else "Give"
    return Remedy(
        cause,
        "operator",
        f"{first} each scheduler process a fast core of its own, free of other work",
        Change(),
        cites,
        risks=("cores taken from other services of the host",),
        verify="the cards' share of time in forwards rises at the same load",
        rollback="the previous governor and affinity",
    )


def _cards(facts: Facts) -> Observation | None:
    busy = device_busy(facts)
    if busy is None:
        return None
    if busy.value >= 0.8:
        return Observation(busy.says, busy.cites, 0.05, 0.6)
    return Observation(busy.says, busy.cites, 0.85, 0.12) if busy.value <= 0.6 else None


def _thread(facts: Facts) -> Observation | None:
    thread, busy = busiest_scheduler(facts), device_busy(facts)
    if thread is None:
        return None
    if thread.value < 0.6:
        return Observation(thread.says, thread.cites, 0.03, 0.5)
    if thread.value < 0.9:
        return None
    idle_cards = busy is not None and busy.value <= 0.6
    return Observation(thread.says, thread.cites, 0.9, 0.1 if idle_cards else 0.6)


def _traced(facts: Facts) -> Observation | None:
    """Gaps while the host launches or schedules, of the time in which there was something to do: so it tells empty
    slots from a slow host. Tracing slows the host itself, and without graphs the launches have a name of their own."""
    held = held_by_host(facts)
    if held is None:
        return None
    if held.value <= 0.12:
        return Observation(held.says, held.cites, 0.05, 0.55)
    if held.value < 0.4 or decodes_eagerly(facts) is not None:
        return None
    return Observation(held.says, held.cites, 0.85, 0.1)


def _governor(facts: Facts) -> Observation | None:
    governor = slow_governor(facts)
    return None if governor is None else Observation(governor.says, governor.cites, 0.45, 0.15)


def _crowded(facts: Facts) -> Observation | None:
    known = crowded(facts)
    return None if known is None else Observation(known.says, known.cites, 0.4, 0.08)


def _overlap(facts: Facts) -> Observation | None:
    off = overlap_off(facts)
    return None if off is None else Observation(off.says, off.cites, 0.5, 0.05)


def _eager(facts: Facts) -> Observation | None:
    """Without graphs the launches are what costs the host its time; that has a name and a flag of its own."""
    eager = decodes_eagerly(facts)
    if eager is None:
        return None
    return Observation(f"{eager.says}: that alone keeps the host busy", eager.cites, 0.1, 0.4)


CAUSE = HostBound()
