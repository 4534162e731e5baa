"""KV001 KV pool exhausted

What it is
    The running requests need more KV tokens than the pool holds. SGLang then retracts some of them: their work is
    thrown away and computed again later.

Why it matters
    Retracted work is paid for twice and the speed can collapse for a long time, with more requests running and fewer
    tokens a second. Under a pipeline it comes sooner: admission counts the future tokens of one slot at a time.

Signals
    `KV cache pool is full. Retract requests`, a rising count of retracted requests, token usage near 1 (in a hybrid
    model of any of its pools), a throughput that falls after the first retraction and stays low.

What refutes it
    A pool that never comes near full. A large batch or a low speed after a retraction is its consequence, so they
    are no causes of their own.

Remedies
    Fewer running requests, so that what runs fits; a larger share of memory for the pool where the cards have room
    after graph capture; a higher schedule_conservativeness. An 8-bit KV cache changes answers and is slow on some
    cards, so it is not the first thing to try.
"""

from ppagent.causes.admission import (
    FULL,
    at_cap,
    pool_peak,
    pool_typical,
    queue,
    requests_that_fit,
    retractions,
    standing_queue,
)
from ppagent.causes.cause import Advice, Declined, Observation, Probe
from ppagent.causes.pool_remedies import (
    fewer_running,
    larger_pool,
    more_conservative,
    raised_token_limit,
    room_by_hand,
)
from ppagent.causes.situation import in_flight
from ppagent.evidence.facts import Facts

OFTEN = 3
"""Retractions from which on they are no accident."""

OUTGROWN = 1.2
"""Times the requests that the pool holds at full length from which the load counts as too large for it."""

NEAR = 0.85
"""From this usage on, a pool may be what keeps requests out: the rest is held back for tokens still to come."""

BRIM = 0.9
"""From this typical usage on, requests that wait below the cap wait for room."""

HALF_USED = 0.5
"""Below this typical usage something else than the pool keeps requests out."""


class KvPoolExhausted:
    id = "KV001"
    name = "KV pool exhausted"
    prior = 0.08
    wants = (
        "decode.token_usage.max",
        "decode.token_usage.p50",
        "trouble.kv_pool_full",
        "metrics.retracted_reqs",
        "metrics.token_usage",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        full = _usage(facts), _brimming(facts), _outgrown(facts)
        found = (_retracted(facts), _no_room_left(facts), *full, _collapse(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if pool_peak(facts) is not None or retractions(facts) is not None:
            return ()
        return (
            Probe("logs.decode", "how full the KV pool gets is not known", 0),
            Probe("http.metrics", "token usage and retractions are counted there", 1),
        )

    def advise(self, facts: Facts) -> Advice:
        known = retractions(facts) or pool_peak(facts)
        if known is None:
            return Advice()
        room, raised = larger_pool(self.id, facts, known.cites), raised_token_limit(self.id, facts, known.cites)
        # A cap or a reserve helps where work is thrown away; requests that merely wait for room would go on waiting.
        calmer = fewer = None
        thrown_back = retractions(facts)
        if thrown_back is not None and thrown_back.value:
            fits, wanted = requests_that_fit(facts), raised is None or thrown_back.value >= OFTEN
            fewer = fewer_running(self.id, facts, fits) if fits is not None and wanted else None
            calmer = more_conservative(self.id, facts, known.cites)
        remedies = tuple(remedy for remedy in (raised, fewer, room, calmer) if remedy is not None)
        remedies = remedies or (room_by_hand(self.id, known.cites),)
        declined = (
            Declined("--kv-cache-dtype", "an 8-bit KV cache changes answers and takes a slow kernel on some cards"),
            Declined("--pp-max-micro-batch-size", "the pool is shared by all slots; spreading requests frees no token"),
        )
        return Advice(remedies, declined)


def _retracted(facts: Facts) -> Observation | None:
    known, peak = retractions(facts), pool_peak(facts)
    if known is None:
        return None
    if known.value == 0:
        # A pool can be full without a retraction: admission then stops at its brink.
        near = peak is not None and peak.value >= (FULL if standing_queue(facts) is False else NEAR)
        return None if near else Observation(known.says, known.cites, 0.15, 0.9)
    typical = pool_typical(facts)
    if known.value < OFTEN and typical is not None and typical.value < 0.8:
        says = f"{known.says}, and {typical.says}: now and then is within what the scheduler reckons with"
        return Observation(says, known.cites + typical.cites, 0.3, 0.1)
    return Observation(known.says, known.cites, 0.9, 0.01)


def _no_room_left(facts: Facts) -> Observation | None:
    """Retraction that found nothing left to give up: a single request is larger than the pool."""
    if not facts.number("trouble.retract_failed"):
        return None
    says = "memory ran out even after all other requests were retracted"
    return Observation(says, facts.cite("trouble.retract_failed"), 0.6, 0.005)


def _usage(facts: Facts) -> Observation | None:
    peak, typical = pool_peak(facts), pool_typical(facts)
    if peak is None:
        return None
    if typical is not None and typical.value >= FULL:
        return Observation(typical.says, typical.cites, 0.85, 0.02)
    if peak.value >= 0.97:
        return Observation(peak.says, peak.cites, 0.9, 0.1)
    if peak.value >= NEAR:
        return None
    return Observation(f"{peak.says}, so it never ran out", peak.cites, 0.02, 0.8)


def _brimming(facts: Facts) -> Observation | None:
    """Requests wait though no cap is reached, and what is left of the pool is the reserve of those that run."""
    typical, waits = pool_typical(facts), queue(facts)
    if typical is None or waits is None or not BRIM <= typical.value < FULL:
        return None
    if standing_queue(facts) is not True or at_cap(facts):
        return None
    return Observation(f"{typical.says} and {waits.says}", typical.cites + waits.cites, 0.7, 0.02)


def _outgrown(facts: Facts) -> Observation | None:
    """More is in flight than the pool holds at full length, and the rest waits though no cap is reached. Usage then
    stays below 1 all the same: admission keeps a reserve for the tokens that running requests will still make."""
    fits, load, typical, waits = requests_that_fit(facts), in_flight(facts), pool_typical(facts), queue(facts)
    if fits is None or load is None or typical is None or waits is None or at_cap(facts):
        return None
    if standing_queue(facts) is not True or typical.value < HALF_USED or load.value < OUTGROWN * fits.value:
        return None
    says = f"{fits.says}, {load.value:.3g} are in flight and {waits.says}"
    return Observation(says, fits.cites + load.cites + waits.cites, 0.8, 0.02)


def _collapse(facts: Facts) -> Observation | None:
    """The order of events: a speed that fell once requests had been retracted is an effect of it."""
    before, after = facts.number("decode.throughput_before"), facts.number("decode.throughput_after")
    if not before or after is None:
        return None
    cites = facts.cite("decode.throughput_before", "decode.throughput_after")
    says = f"{before:.4g} tok/s before the first retraction, {after:.4g} tok/s after the last"
    if after < 0.6 * before:
        return Observation(says, cites, 0.5, 0.03)
    return None


CAUSE = KvPoolExhausted()
