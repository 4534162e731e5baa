"""KV003 cap silently reduced at start

What it is
    The launch asked for N running requests and the server started with fewer: the pool's estimate or a hybrid model's
    state cache bounds the cap, and one line among thousands says so, or none.

Why it matters
    The requested figure is in the launch command, so everybody reasons with a cap that is not there. Raising the flag
    further moves nothing.

Signals
    `max_running_requests was reduced from the requested N to M`, `is capped to M by the mamba state cache`, or an
    effective cap below the requested one (after division by the data-parallel ranks), with requests waiting.

What refutes it
    The effective cap is the requested one; none was requested; or the cap in force is never reached.

Remedies
    What binds decides: a shorter context length where the estimate is tokens over context, a larger state cache in a
    hybrid model, a larger pool otherwise.
"""

from ppagent.causes.admission import at_cap, queue, running, standing_queue
from ppagent.causes.cap_remedies import requested_share, told, ways_to_raise
from ppagent.causes.cause import Advice, Declined, Observation, Probe
from ppagent.causes.situation import Known, arguments_known, given_unread
from ppagent.evidence.facts import Facts


class CapReducedAtStart:
    id = "KV003"
    name = "cap silently reduced at start"
    prior = 0.03
    wants = (
        "trouble.cap_reduced",
        "launch.max_running_requests",
        "start.max_running_requests",
        "internal.max_running_requests",
        "decode.queue_share",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        found = (_line(facts), _compared(facts), _not_asked(facts), _felt(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if facts.number("trouble.cap_reduced"):
            return () if queue(facts) is not None else (Probe("logs.decode", "whether anything waits is not known", 0),)
        if requested_share(facts) is None:
            launch = Probe("server.launch", "the requested cap is not known", 0)
            return () if _not_asked(facts) is not None else (launch,)
        if effective(facts) is None:
            return (Probe("logs.startup", "the cap in force is not known", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("trouble.cap_reduced") or _cites_of_both(facts)
        why = "the flag asks for more already; another bound holds it down"
        declined = Declined("--max-running-requests", why, cites)
        return Advice(ways_to_raise(self.id, facts, cites), (declined,))


def effective(facts: Facts) -> Known | None:
    """The cap of one scheduler as it took effect."""
    fact = facts.first("internal.max_running_requests", "start.max_running_requests")
    if fact is None or fact.number is None:
        return None
    return Known(fact.number, (fact.evidence,), f"{fact.number:g} in force")


def _cites_of_both(facts: Facts) -> tuple[str, ...]:
    asked, got = requested_share(facts), effective(facts)
    return tuple(dict.fromkeys((asked.cites if asked else ()) + (got.cites if got else ())))


def _line(facts: Facts) -> Observation | None:
    if not facts.number("trouble.cap_reduced"):
        return None
    asked, got = told(facts, "from"), told(facts, "to")
    span = (f" from {asked:g}" if asked is not None else "") + (f" to {got:g}" if got is not None else "")
    says = f"the start-up log says that the running cap was reduced{span}"
    return Observation(says, facts.cite("trouble.cap_reduced"), 0.9, 0.01)


def _compared(facts: Facts) -> Observation | None:
    """Requested is not effective: what the launch asked for against what the scheduler holds."""
    asked, got = requested_share(facts), effective(facts)
    if asked is None or got is None:
        return None
    says = f"{asked.says}, {got.says}"
    cites = _cites_of_both(facts)
    if got.value < asked.value:
        return Observation(says, cites, 0.9, 0.02)
    return Observation(says, cites, 0.02, 0.9)


def _not_asked(facts: Facts) -> Observation | None:
    if requested_share(facts) is not None or facts.number("trouble.cap_reduced") or not arguments_known(facts):
        return None
    if given_unread(facts, "max_running_requests"):
        return None
    unset = tuple(fact.evidence for fact in facts.all("args.max_running_requests")[:1])
    cites = facts.cite("launch.command") or unset
    says = "the launch asks for no running cap, so none was reduced"
    return Observation(says, cites, 0.05, 0.7) if cites else None


def _felt(facts: Facts) -> Observation | None:
    """A lower cap does harm only where requests run into it."""
    if requested_share(facts) is None and not facts.number("trouble.cap_reduced"):
        return None
    waits, runs = queue(facts), running(facts)
    if waits is None:
        return None
    if standing_queue(facts) is False:
        return Observation(f"the lower cap is not felt: {waits.says}", waits.cites, 0.05, 0.7)
    if standing_queue(facts) and at_cap(facts) and runs is not None:
        says = f"requests run into it: {runs.says}, {waits.says}"
        return Observation(says, tuple(dict.fromkeys(runs.cites + waits.cites)), 0.9, 0.15)
    return None


CAUSE = CapReducedAtStart()
