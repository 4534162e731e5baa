"""SP002 speculation caps the batch

What it is
    With a speculative algorithm and no cap of the user's own, SGLang sets max_running_requests to 48 for all
    data-parallel ranks together. Above that, requests wait however empty the KV pool is.

Why it matters
    Nobody asked for the cap and up to 0.5.3 nothing says it. Speculation then looks fine for one user and costs the
    throughput of many.

Signals
    Speculation on, no max_running_requests in the launch, 48 in force, running requests standing at it with a queue
    and low token usage; `Max running requests is reset to 48 for speculative decoding`.

What refutes it
    No speculation; a cap of the user's own; no queue; a full pool.

Remedies
    A cap for the load there is, or no speculation where many users count for more than one.
"""

from ppagent.causes.admission import FULL, pool_peak, queue, running, standing_queue, wanted_cap
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.speculation import algorithm, implicit_cap, switched_off, without
from ppagent.evidence.facts import Facts


class SpeculationCapsBatch:
    id = "SP002"
    name = "speculation caps the batch"
    prior = 0.03
    wants = (
        "args.speculative_algorithm",
        "launch.max_running_requests",
        "args.max_running_requests",
        "trouble.spec_cap",
        "decode.queue_share",
        "decode.token_usage.max",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        off = switched_off(facts)
        if off is not None:
            return (off,)
        found = (_asked(facts), _no_queue(facts), _pool(facts), _pinned(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        on = algorithm(facts)
        if on is None:
            return (Probe("http.info", "whether speculation is on is not known", 1),)
        if not on.value or standing_queue(facts) is False:
            return ()
        if queue(facts) is None:
            return (Probe("logs.decode", "whether requests wait is not known", 0),)
        if facts.get("launch.command") is None and not facts.number("trouble.spec_cap"):
            return (Probe("server.launch", "whether the launch asks for a cap of its own is not known", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        implied = implicit_cap(facts)
        if implied is None:
            return Advice()
        total = wanted_cap(facts)
        raised = Remedy(
            self.id,
            "relaunch",
            f"Ask for {total} running requests yourself: {implied.says}",
            Change(set={"--max-running-requests": str(total)}),
            implied.cites,
            risks=(
                "larger batches make speculation pay less",
                "decode graphs and the draft's own pool must cover the larger batch",
            ),
            verify="#queue-req falls to 0 and #running-req passes 48 at the same load",
            rollback="leave --max-running-requests out",
        )
        dropped = without(self.id, facts, implied, "requests a second rise at the same load", alone=True)
        return Advice((raised, dropped), (Declined("--mem-fraction-static", "the KV pool is not what is short"),))


def _asked(facts: Facts) -> Observation | None:
    asked = facts.get("launch.max_running_requests")
    if asked is None or asked.number is None:
        return None
    says = f"the launch asks for {asked.number:g} running requests itself"
    return Observation(says, (asked.evidence,), 0.01, 0.6)


def _no_queue(facts: Facts) -> Observation | None:
    waits = queue(facts)
    if waits is None or standing_queue(facts) is not False:
        return None
    return Observation(f"the cap is not felt: {waits.says}", waits.cites, 0.03, 0.7)


def _pool(facts: Facts) -> Observation | None:
    peak = pool_peak(facts)
    if peak is None or peak.value < FULL:
        return None
    return Observation(f"the pool is what is short: {peak.says}", peak.cites, 0.1, 0.5)


def _pinned(facts: Facts) -> Observation | None:
    implied, runs, waits = implicit_cap(facts), running(facts), queue(facts)
    if implied is None or runs is None or waits is None or not standing_queue(facts):
        return None
    each = implied.value // max(1.0, facts.arg_number("dp_size") or 1.0)
    bound = implied.value if runs.value > each + 1 else each
    says = f"{implied.says}; {runs.says}, {waits.says}"
    cites = tuple(dict.fromkeys(implied.cites + runs.cites + waits.cites))
    if runs.value >= bound - 1:
        return Observation(says, cites, 0.95, 0.004)
    return Observation(says, cites, 0.05, 0.6)


CAUSE = SpeculationCapsBatch()
