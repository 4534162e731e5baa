"""LB001 offered load too low

What it is
    The client limits, not the server: fewer requests are offered than the server would take, or the client does not
    keep up the concurrency it was asked for.

Why it matters
    Every figure per second is then a figure about the client. Nothing on the server is broken and no flag helps, so
    by itself this leaves a verdict of healthy.

Signals
    Nothing ever waits, the running requests are those the client has in flight, and the speed still grows about in
    proportion with the concurrency; a measured concurrency well below the one asked for; less than one request in
    flight on average.

What refutes it
    A standing queue; a speed that no longer grows with the concurrency; the same load that ran faster before. With a
    pipeline whose slots are not filled it is PP001, with fewer requests than stages PP002, and those say more.

Remedies
    More requests at a time in the test; judge the server at the load it is meant for.
"""

from ppagent.causes.admission import pool_peak, queue, retractions, standing_queue
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.fill import fill_readings
from ppagent.causes.host import decodes_eagerly
from ppagent.causes.kernel_gap import bandwidth_gap, times_the_step
from ppagent.causes.load import below_asked, cap_use, growth, hardly_any
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.said import said
from ppagent.causes.situation import KEPT_UP, in_flight, stages
from ppagent.evidence.facts import Facts

_WAS_FASTER = (
    r"\b(?:same (?:load|test|benchmark|clients|users|traffic|box|machine)|identical|before|used to)\b.*\d\s*(?:tok|t/s)"
)
"""A sentence that sets the speed of the same load, at another time or on a box like this, against the present one."""

AT_THE_FLOOR, FAR_FROM_IT = 1.5, 4.0
"""Times the floor of memory bandwidth: a decode step up to the first hides nothing, one from the second on may hide
anything; 1.5 to 6 is what is seen."""

MANY_MORE = 8
"""Times the load that is tried on paper."""


class OfferedLoadLow:
    id = "LB001"
    name = "offered load too low"
    prior = 0.12
    wants = (
        "bench.levels",
        "decode.queue_req.mean",
        "decode.queue_share",
        "decode.running_req.p95",
        "metrics.in_flight",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        found = (
            _waiting(facts),
            _growth(facts),
            _asked_for_more(facts),
            _hardly_any(facts),
            _near_the_floor(facts),
            _room(facts),
            _was_faster(facts),
            _server_is_ill(facts),
            _pipeline(facts),
        )
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if queue(facts) is None:
            return (Probe("logs.decode", "whether requests wait is not known", 0),)
        if standing_queue(facts):
            return ()
        if growth(facts) is None and in_flight(facts) is None:
            return (Probe("bench.results", "how the speed grows with the load is not known", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        known = below_asked(facts) or growth(facts) or hardly_any(facts) or queue(facts)
        if known is None:
            return Advice()
        remedy = Remedy(
            self.id,
            "operator",
            "Offer more requests at a time and measure again; check that the client keeps up what it is asked for",
            Change(),
            known.cites,
            verify="tok/s rises with the concurrency until requests begin to wait",
            rollback="none needed",
        )
        declined = Declined("--max-running-requests", "nothing waits, so no cap is in the way", known.cites)
        return Advice((remedy,), (declined,))


def _waiting(facts: Facts) -> Observation | None:
    known, use = queue(facts), cap_use(facts)
    if known is None:
        return None
    if standing_queue(facts):
        return Observation(f"the server has more than it takes: {known.says}", known.cites, 0.04, 0.4)
    if standing_queue(facts) is None:
        return None
    if use is None or use.value > 0.5:
        return Observation(known.says, known.cites, 0.9, 0.55)
    return Observation(f"{known.says}, and {use.says}", known.cites + use.cites, 0.9, 0.35)


def _growth(facts: Facts) -> Observation | None:
    """Speed over concurrency between the two highest levels: 1 is in proportion, 0 is flat."""
    known = growth(facts)
    if known is None:
        return None
    if known.value >= 0.85:
        return Observation(f"{known.says}, still about in proportion", known.cites, 0.8, 0.08)
    if known.value <= 0.3:
        return Observation(f"{known.says}, hardly any more", known.cites, 0.06, 0.5)
    return None


def _asked_for_more(facts: Facts) -> Observation | None:
    known = below_asked(facts)
    if known is None:
        return None
    if known.value >= 0.85:
        return None
    # Where nobody knows whether requests wait, the server may as well be what keeps them from being in flight.
    return Observation(known.says, known.cites, 0.7, 0.03 if queue(facts) is not None else 0.15)


def _near_the_floor(facts: Facts) -> Observation | None:
    """A step near what memory bandwidth allows, with the cap far away: only more requests can give more."""
    gap, use = bandwidth_gap(facts), cap_use(facts)
    if gap is None or use is None or use.value > 0.1 or gap.value >= FAR_FROM_IT:
        return None
    says, cites = f"{gap.says}, and {use.says}", gap.cites + use.cites
    beyond = max(0.0, gap.value - AT_THE_FLOOR) / (FAR_FROM_IT - AT_THE_FLOOR)
    return Observation(says, cites, 0.8, 0.08 + 0.22 * beyond)


def _room(facts: Facts) -> Observation | None:
    """Whether many more requests would take hardly longer a step, since reading the weights is what takes it."""
    use, longer = cap_use(facts), times_the_step(facts, MANY_MORE)
    if use is None or use.value > 0.1 or longer is None or longer.value > 1.5:
        return None
    return Observation(longer.says, longer.cites, 0.9, 0.4)


def _was_faster(facts: Facts) -> Observation | None:
    """The same load that ran faster before, or runs faster elsewhere, is not what is missing."""
    spoken = said(facts, _WAS_FASTER)
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.1, 0.4)


def _hardly_any(facts: Facts) -> Observation | None:
    known = hardly_any(facts)
    return None if known is None else Observation(known.says, known.cites, 0.6, 0.03)


def _server_is_ill(facts: Facts) -> Observation | None:
    """A fault of the server that slows it whatever is offered; its cause says more than this one."""
    gone, peak = retractions(facts), pool_peak(facts)
    if gone is not None and gone.value > 0:
        return Observation(gone.says, gone.cites, 0.05, 0.3)
    if peak is not None and peak.value >= 0.9:
        return Observation(peak.says, peak.cites, 0.1, 0.3)
    eager = decodes_eagerly(facts)
    return None if eager is None else Observation(f"{eager.says}, which slows each of them", eager.cites, 0.2, 0.4)


def _pipeline(facts: Facts) -> Observation | None:
    """With a pipeline, empty slots or fewer requests than stages are the better names for the same sight."""
    ring, load = stages(facts), in_flight(facts)
    if ring is None or ring.value < 2 or load is None:
        return None
    if _client_could_more(facts, ring.value):
        return None
    if load.value < ring.value:
        says = f"{load.value:.3g} requests in flight are fewer than {ring.value:g} stages, which is PP002"
        return Observation(says, load.cites + ring.cites, 0.3, 0.6)
    empty = [reading for reading in fill_readings(facts) if reading.share < 0.7]
    if not empty:
        return None
    return Observation(f"slots stand empty: {empty[0].says}", empty[0].cites, 0.05, 0.5)


def _client_could_more(facts: Facts, ring_stages: float) -> bool:
    """Whether the clients are enough for all stages and were just not kept at work."""
    kept = below_asked(facts)
    asked = max((number(row.get("concurrency")) for row in bench_rows(facts)), default=0.0)
    return kept is not None and kept.value < KEPT_UP and asked >= ring_stages


CAUSE = OfferedLoadLow()
