"""PP002 concurrency below pipeline depth

What it is
    Fewer requests are in flight than the pipeline has stages. A token of a request passes every stage in turn, so at
    most as many stages work at a time as there are requests. Nothing is broken.

Why it matters
    No micro-batch setting can help, since there is nothing to spread. It is a property of pipeline parallelism, not a
    fault of the server, so by itself it leaves a verdict of healthy.

Signals
    Requests in flight (client's concurrency, or Little's law on the server's counters) between 1 and pp_size - 1.

What refutes it
    As many requests in flight as stages, or more; or no pipeline at all.

Remedies
    More concurrency where the load allows it; tensor parallelism (or fewer stages) where one user's speed is the aim.
    Never a micro-batch flag.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.situation import Known, in_flight, stages
from ppagent.evidence.facts import Facts


class ConcurrencyBelowDepth:
    id = "PP002"
    name = "concurrency below pipeline depth"
    prior = 0.1
    wants = ("args.pp_size", "bench.levels", "metrics.in_flight", "stated.in_flight", "decode.running_req.max")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring, load = stages(facts), in_flight(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.5),)
        together = _together(facts, ring)
        if load is None or (together is not None and load.value < ring.value):
            return () if together is None else (Observation(together.says, together.cites, 0.02, 0.9),)
        cites = load.cites + ring.cites
        if "metrics.in_flight" in facts and load.cites == facts.cite("metrics.in_flight"):
            return (_on_average(load.value, ring.value, cites),)
        says = f"{load.value:.3g} requests in flight at the most, {ring.value:g} stages"
        if load.value < ring.value:
            return (Observation(says, cites, 0.95, 0.02),)
        return (Observation(says, cites, 0.02, 0.9),)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if stages(facts) is None:
            return (STAGES_ASKED,)
        if in_flight(facts) is not None:
            return ()
        return (Probe("bench.results", "how many requests are in flight is not known", 0),)

    def advise(self, facts: Facts) -> Advice:
        ring = stages(facts)
        cites = ring.cites if ring is not None else ()
        remedy = Remedy(
            self.id,
            "operator",
            "Offer more requests at a time, or use tensor parallelism where one user's speed is the aim",
            Change(),
            cites,
            risks=("another parallel shape needs a full reload and its own measurement",),
            verify="tok/s rises with concurrency up to the number of stages",
            rollback="none needed",
        )
        declined = Declined(
            "--pp-max-micro-batch-size",
            "with fewer requests than stages there is nothing to spread",
            cites,
        )
        return Advice((remedy,), (declined,))


def _together(facts: Facts, ring: Known) -> Known | None:
    """Known where one micro-batch alone held as many requests as there are stages: more were in flight, if anything."""
    held = facts.get("decode.running_req.max")
    if held is None or held.number is None or held.number < ring.value:
        return None
    says = f"one micro-batch held {held.number:g} requests, {ring.value:g} stages"
    return Known(held.number, (held.evidence, *ring.cites), says)


def _on_average(load: float, stages: float, cites: tuple[str, ...]) -> Observation:
    """The server's counters give a mean over busy and idle times, so a low one says little about the busy ones."""
    says = f"{load:.3g} requests in flight on average, {stages:g} stages"
    if load < stages / 2:
        return Observation(says, cites, 0.8, 0.2)
    return Observation(says, cites, 0.7, 0.5) if load < stages else Observation(says, cites, 0.02, 0.9)


CAUSE = ConcurrencyBelowDepth()
