"""KV005 admission too conservative

What it is
    Admission reserves KV tokens for answers still to come, weighted by schedule_conservativeness. Set high, or with
    requests that ask for far longer answers than they get, it keeps requests out of a pool that has room.

Why it matters
    Requests wait although neither the pool nor the cap is reached; batches stay small.

Signals
    A standing queue with token usage well below 1, running requests below the cap, no retractions, and a
    schedule_conservativeness above 1 or a new_token_ratio that stays high.

What refutes it
    No queue; running requests at the cap (KV002); a full pool or retractions (KV001): then admission is too bold, if
    anything.

Remedies
    Lower schedule_conservativeness (0.3 to 0.7), watching for retractions. Under a pipeline do it in small steps:
    admission there counts the requests of one slot at a time and over-promises already.
"""

from ppagent.causes.admission import at_cap, cap, pipelined, pool_peak, queue, retractions, running, standing_queue
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.situation import running_per_slot, slot_limit
from ppagent.evidence.facts import Facts

ROOM = 0.8
"""Below this peak usage the pool could have taken more requests."""


FIRST_RESERVE = 0.7
"""SGLANG_INIT_NEW_TOKEN_RATIO: the share of an answer's tokens that admission reserves at conservativeness 1."""


class AdmissionConservative:
    id = "KV005"
    name = "admission too conservative"
    prior = 0.04
    wants = (
        "args.schedule_conservativeness",
        "decode.queue_share",
        "decode.token_usage.max",
        "decode.running_req.p95",
        "metrics.new_token_ratio",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        found = (_queue(facts), _bound_elsewhere(facts), _kept_out(facts), _setting(facts), _ratio(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if queue(facts) is None:
            return (Probe("logs.decode", "whether requests wait is not known", 0),)
        if not standing_queue(facts):
            return ()
        if facts.arg("schedule_conservativeness") is None:
            return (Probe("http.info", "schedule_conservativeness is not known", 1),)
        if facts.get("metrics.new_token_ratio") is None:
            return (Probe("http.metrics", "how much admission reserves for answers to come is not known", 1),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        waits, peak = queue(facts), pool_peak(facts)
        if waits is None:
            return Advice()
        now = facts.arg_number("schedule_conservativeness")
        now = 1.0 if now is None else now
        wanted = 1.0 if now > 1.0 else (0.7 if pipelined(facts) else 0.5) * now
        cites = tuple(dict.fromkeys(facts.cite_args("schedule_conservativeness") + waits.cites))
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Reserve less for answers to come: {waits.says}" + (f" while {peak.says}" if peak is not None else ""),
            Change(set={"--schedule-conservativeness": f"{wanted:.2g}"}),
            cites,
            risks=("too low a value ends in retractions, whose work is paid for twice",),
            verify="#queue-req falls and token usage rises at the same load, without retraction lines",
            rollback=f"--schedule-conservativeness {now:g}",
        )
        declined = Declined("--max-running-requests", "running requests stay below the cap, so it holds nothing back")
        return Advice((remedy,), (declined,))


def _queue(facts: Facts) -> Observation | None:
    known = queue(facts)
    if known is None or standing_queue(facts) is not False:
        return None
    return Observation(f"nothing is kept out: {known.says}", known.cites, 0.02, 0.75)


def _bound_elsewhere(facts: Facts) -> Observation | None:
    """The pool, the cap or a slot limit explains the queue."""
    gone, peak = retractions(facts), pool_peak(facts)
    if gone is not None and gone.value > 0:
        return Observation(f"admission is bold, not careful: {gone.says}", gone.cites, 0.03, 0.3)
    if peak is not None and peak.value >= 0.9:
        return Observation(f"admission fills the pool: {peak.says}", peak.cites, 0.05, 0.4)
    if not standing_queue(facts):
        return None
    runs, most = running(facts), cap(facts)
    if at_cap(facts) and runs is not None and most is not None:
        return Observation(f"{runs.says} stand at {most.says}", runs.cites + most.cites, 0.04, 0.4)
    fullest, limit = running_per_slot(facts), slot_limit(facts)
    if pipelined(facts) and fullest is not None and limit is not None and fullest.value >= limit.value:
        return Observation(f"{fullest.says} stand at the {limit.says}", fullest.cites + limit.cites, 0.05, 0.4)
    return None


def _kept_out(facts: Facts) -> Observation | None:
    """Requests wait, the pool has room, and what runs stays below the cap."""
    waits, peak, runs, most = queue(facts), pool_peak(facts), running(facts), cap(facts)
    if waits is None or peak is None or not standing_queue(facts) or peak.value > ROOM or at_cap(facts):
        return None
    if runs is None or most is None or runs.value > 0.9 * most.value:
        return None
    says = f"{waits.says} while {peak.says} and {runs.says} of {most.value:g}"
    cites = tuple(dict.fromkeys(waits.cites + peak.cites + runs.cites + most.cites))
    prefilling = (facts.number("prefill.share_of_lines") or 0.0) > 0.5
    return Observation(says, cites, 0.9, 0.3 if prefilling else 0.05)


def _setting(facts: Facts) -> Observation | None:
    value = facts.arg_number("schedule_conservativeness")
    if value is None or not standing_queue(facts):
        return None
    says = f"schedule_conservativeness is {value:g}" + ("" if value > 1 else ", no more than the default of 1")
    cites = facts.cite_args("schedule_conservativeness")
    return Observation(says, cites, 0.7, 0.03) if value > 1 else Observation(says, cites, 0.3, 0.9)


def _ratio(facts: Facts) -> Observation | None:
    """The reserve decays from 0.7 x conservativeness as long as nothing is retracted, so a high one is telling; one
    above that comes from retractions, which raise it (0.5.23: new_token_ratio_tracker.py, scheduler.py)."""
    ratio = facts.number("metrics.new_token_ratio")
    if ratio is None or not standing_queue(facts):
        return None
    says = f"admission reserves {ratio:.0%} of the answers asked for"
    cites = facts.cite("metrics.new_token_ratio")
    conservativeness = facts.arg_number("schedule_conservativeness")
    first = None if conservativeness is None else min(1.0, FIRST_RESERVE * conservativeness)
    if first is not None and ratio > first + 0.05:
        says += f", and its setting begins with {first:.0%}: only retractions raise it, so the pool was outgrown"
        return Observation(says, cites + facts.cite_args("schedule_conservativeness"), 0.05, 0.6)
    if ratio >= 0.6:
        return Observation(says, cites, 0.6, 0.04)
    return Observation(says, cites, 0.1, 0.5) if ratio <= 0.2 else None


CAUSE = AdmissionConservative()
