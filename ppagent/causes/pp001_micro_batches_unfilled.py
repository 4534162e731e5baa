"""PP001 micro-batches unfilled

What it is
    Pipelining is always on in SGLang when pp_size is above 1: the ring has one slot a stage (and
    pp_async_batch_depth more from 0.5.7). A slot admits up to pp_max_micro_batch_size requests, by default
    max_running_requests // pp_size, which is far above usual concurrency. New requests join the slot that is already
    busy, so they clump, and stages wait for a micro-batch that is elsewhere.

Why it matters
    With F of P slots filled at most F stages work at a time. Cards look idle, power is near idle, and every request
    waits for the longer steps of a crowded micro-batch.

Signals
    Stage 0 logs `#running-req` close to the number of requests in flight. The ring turn (inter-token time) grows with
    every request added, although each could have had a slot of its own. Busy share of all stages equal and near F/P,
    by metrics or in a trace.

What refutes it
    Requests in flight over `#running-req` near the number of slots; stages busy most of the time; a slot limit that
    allows no clumping; a single request; no pipeline.

Remedies
    pp_max_micro_batch_size = ceil(requests / slots), live first (nothing is reloaded, and it can be put back), then in
    the launch. It changes no answers and no memory. Above limit x slots requests queue, so raise it with the load.
    Spreading over uneven stages can lose: the limit is chosen for the number of slots that the layer split carries.
    `--pp-async-batch-depth` adds slots to a ring whose slots are empty; it fills none.
"""

from dataclasses import replace

from ppagent.causes.carried import useful_slots
from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.fill import fill_readings, most_in_flight, turn_line
from ppagent.causes.fill_seen import LITTLE_GAIN, contradiction, fill_seen, turns_seen
from ppagent.causes.physics import ring_of, turn_report
from ppagent.causes.rebalance import better_split
from ppagent.causes.situation import Known, in_flight, running_per_slot, slot_limit, slots, spread_limit, stages
from ppagent.evidence.facts import Facts
from ppagent.model.forecast import Effect
from ppagent.model.spread import best_limit, forecast_limit

CLEARLY = 1.05
"""Forecasts closer than this are the same to the model, whose middle missed recorded changes by 6 and 7 %."""


class MicroBatchesUnfilled:
    id = "PP001"
    name = "micro-batches unfilled"
    prior = 0.2
    wants = (
        "args.pp_size",
        "internal.slot_limit",
        "start.max_running_requests",
        "decode.running_req.p95",
        "decode.tokens.mean",
        "prefill.new_tokens",
        "bench.levels",
        "stated.running_per_stage",
        "metrics.in_flight",
        "metrics.fwd_occupancy",
        "gpu.power_w",
        "profile.busy",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring = stages(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.6),)
        found = list(fill_seen(facts))
        found += [o for o in (_single(facts), _forced_spread(facts), turns_seen(facts), _power(facts)) if o is not None]
        return tuple(found)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2:
            return ()
        if fill_readings(facts):
            return _disagreement(facts)
        return (
            Probe("logs.decode", "count #running-req on stage 0 while a known number of requests is in flight", 0),
            Probe("bench.results", "two or three load levels show whether the ring turn grows with every request", 0),
        )

    def advise(self, facts: Facts) -> Advice:
        ring, load = slots(facts), in_flight(facts)
        if ring is None:
            return Advice()
        depth = Declined(
            "--pp-async-batch-depth",
            "it adds slots to the ring; these are empty, not too few, and it fills none",
            ring.cites,
        )
        if load is None:
            bounded = _by_bound(facts, ring)
            return Advice((bounded,), (depth,)) if bounded is not None else Advice((), (depth, _without_load(ring)))
        limit, filled = _best_spread(facts, load.value, ring.value)
        no = _refusal(facts, limit, filled, load.value)
        if no is not None:
            return Advice((), (depth, no))
        spread = _limit(limit, filled, load.value, load.cites + ring.cites, slot_limit(facts))
        split = better_split(self.id, facts, min(filled, load.value), load.value)
        return Advice((spread, split) if split is not None else (spread,), (depth,))


def _best_spread(facts: Facts, requests: float, ring_slots: float) -> tuple[int, float]:
    """(limit, slots filled): an even deal over as many slots as the layer split carries, unless the model of the
    measured levels has a limit that is clearly better."""
    filled = useful_slots(facts, ring_slots)
    even = spread_limit(requests, filled)
    ring = ring_of(facts)
    if ring is None or len(ring.levels) < 2:
        return even, filled
    best, dealt = best_limit(ring, round(requests)), forecast_limit(ring, even, round(requests))
    if best.effect is Effect.HELPS and best.forecast.middle > CLEARLY * dealt.forecast.middle:
        return best.limit, float(best.filled)
    return even, filled


def _without_load(ring: Known) -> Declined:
    return Declined(
        "--pp-max-micro-batch-size",
        "the limit to set is the requests in flight over the slots, and nothing here tells how many are in flight: "
        "the server's metrics or ppagent bench would",
        ring.cites,
    )


def _by_bound(facts: Facts, ring: Known) -> Remedy | None:
    """The limit where only the most requests that can be in flight are known: room for all of them at the peak, so that
    none queues. None where such a limit lets the fullest micro-batch stay as it is, or that one alone holds more."""
    most = most_in_flight(facts, "max") or most_in_flight(facts)
    fullest = running_per_slot(facts)
    if most is None or fullest is None or fullest.value > 1.25 * most.value:
        return None
    filled = useful_slots(facts, ring.value)
    limit = spread_limit(most.value, filled)
    if limit >= fullest.value:
        return None
    spread = _limit(limit, filled, most.value, most.cites + ring.cites, slot_limit(facts))
    title = f"Let a slot take at most {limit}, so that the requests in flight, at most {most.value:.0f}, spread"
    risk = "how many requests are in flight is known only as the most that the tokens held allow, at the mean prompt"
    return replace(spread, title=title, risks=(risk, *spread.risks))


def _refusal(facts: Facts, limit: int, filled: float, requests: float) -> Declined | None:
    """Why the limit is not worth setting, where the measured levels say so."""
    line, ring = turn_line(facts), ring_of(facts)
    if line is None or ring is None:
        return None
    if line.spread_gain(requests, min(filled, requests)) < LITTLE_GAIN:
        why = "the ring turn hardly grows with requests, so spreading makes cards busy and users no faster"
        return Declined("--pp-max-micro-batch-size", why, line.cites)
    forecast = forecast_limit(ring, limit, round(requests))
    if forecast.effect in (Effect.HURTS, Effect.HARDLY):
        low, high = forecast.forecast.low, forecast.forecast.high
        why = f"limit {limit} is forecast at {low:.3g}-{high:.3g} tok/s against {forecast.forecast.baseline:.3g} now"
        if forecast.effect is Effect.HARDLY:
            busy = f"{forecast.busy_then:.0%} of the time, {forecast.busy_now:.0%} now"
            why += f": cards would be busy {busy}, for little"
        return Declined("--pp-max-micro-batch-size", f"{why} ({forecast.forecast.regime})", line.cites)
    return None


def _disagreement(facts: Facts) -> tuple[Probe, ...]:
    """What would settle it where levels and log allow different fills. The cause holds either way."""
    apart = contradiction(facts)
    if apart is not None:
        empty, full = apart
        why = f"two sources contradict each other: {empty.says}, yet {full.says}; look at both over the same load"
        return (Probe("profile.trace", why, 3),)
    report = turn_report(facts)
    read = [reading for reading in fill_readings(facts) if reading.way in ("log", "stated")]
    if report is None or not read or report.fill_low <= min(r.filled for r in read) <= report.fill_high + 0.25:
        return ()
    by_log = min(reading.filled for reading in read)
    by_levels = (
        f"{report.fill_low:.2g}"
        if report.fill_low == report.fill_high
        else (f"{report.fill_low:.2g} to {report.fill_high:.2g}")
    )
    why = (
        f"the load levels fit {by_levels} filled slots, the log or what was stated means about {by_log:.2g}: count "
        "#running-req of stage 0 line by line at a known load (--decode-log-interval 41 walks through the slots)"
    )
    return (Probe("logs.decode", why, 0),)


def _single(facts: Facts) -> Observation | None:
    load = in_flight(facts)
    if load is None or load.value >= 2:
        return None
    return Observation("one request is in flight, so there is nothing to spread", load.cites, 0.02, 0.4)


def _forced_spread(facts: Facts) -> Observation | None:
    """A limit at or below an even share leaves no room for clumping."""
    limit, ring, load = slot_limit(facts), slots(facts), in_flight(facts)
    fullest = running_per_slot(facts)
    requests = load.value if load is not None else None
    if limit is None or ring is None:
        return None
    if requests is None and fullest is not None and fullest.value >= limit.value:
        requests = fullest.value * ring.value
    if requests is None or requests < 2:
        return None
    even = spread_limit(requests, ring.value)
    cites = limit.cites + ring.cites + (load.cites if load is not None else ())
    if limit.value <= even:
        return Observation(f"{limit.says} lets no slot take more than its share of {requests:.3g}", cites, 0.03, 0.5)
    if limit.value >= requests:
        return Observation(f"{limit.says}: one slot may take all {requests:.3g} requests", cites, 0.9, 0.55)
    return None


def _power(facts: Facts) -> Observation | None:
    power, limit = facts.numbers("gpu.power_w"), facts.numbers("gpu.power_limit_w")
    shares = [power[gpu] / limit[gpu] for gpu in power if limit.get(gpu)]
    cites = facts.cite("gpu.power_w", "gpu.power_limit_w")
    if not shares:
        stated, cap = facts.table("stated.power_w"), facts.number("stated.power_limit_w")
        high = stated.get("high")
        if not isinstance(high, int | float) or not cap:
            return None
        shares, cites = [high / cap], facts.cite("stated.power_w")
    if max(shares) < 0.4:
        return Observation(f"every card draws at most {max(shares):.0%} of its power limit", cites, 0.85, 0.4)
    return None


def _limit(limit: int, filled: float, requests: float, cites: tuple[str, ...], now: Known | None) -> Remedy:
    old = f" ({now.value:g})" if now is not None else ""
    return Remedy(
        "PP001",
        "live",
        f"Let a slot take at most {limit}, so that {requests:.3g} requests spread over {filled:.0f} slots",
        Change(set={"--pp-max-micro-batch-size": str(limit)}),
        cites,
        risks=(f"above {limit * filled:.0f} requests the next one queues: raise the limit with the load",),
        verify="once running requests are replaced (none is moved) #running-req on stage 0 falls to the limit, "
        "and tok/s at the same load rises",
        rollback=f"set the old value{old} the same way; a restart brings it back too",
    )


CAUSE = MicroBatchesUnfilled()
