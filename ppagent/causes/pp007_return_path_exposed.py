"""PP007 return path exposed

What it is
    All slots are filled, yet each cycle has a gap: sampled tokens travel from the last stage back to the first, the
    host reads and processes them, and only then is the slot scheduled again.

Why it matters
    The gap is paid once a turn by every stage alike. It is worth a lever only when slots are full: with empty slots
    the wait is for requests, not for the return.

Signals
    Filled slots about equal to stages; busy share of all stages equal and below about 90 %.

What refutes it
    Unfilled slots (then PP001); one stage busier than the rest (then PP004); stages busy most of the time.

Remedies
    0.5.7 or later for the asynchronous loop; there `--pp-async-batch-depth 1`, with at least one request more than
    stages. A depth above 1 gave wrong output in some versions (sglang#15527): compare answers. Needs a restart.
"""

from ppagent.causes.cards import spinning
from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Observation, Probe, Remedy
from ppagent.causes.fill import fill_readings
from ppagent.causes.situation import in_flight, stages
from ppagent.causes.traced import at_work, held_by_host
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least, parse_version

HELD = 0.2
"""Share of its stages' time at work that a host may hold its cards up without being the better explanation."""


class ReturnPathExposed:
    id = "PP007"
    name = "return path exposed"
    prior = 0.08
    wants = (
        "args.pp_size",
        "metrics.fwd_occupancy",
        "metrics.forward_busy",
        "decode.fwd_occupancy",
        "bench.levels",
        "profile.busy",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring = stages(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.6),)
        found = []
        for reading in fill_readings(facts):
            if reading.way in ("occupancy", "trace"):
                continue
            if reading.share < 0.7 or reading.possible < ring.value:
                found.append(Observation(reading.says, reading.cites, 0.05, 0.6))
            elif not reading.only_at_most:
                found.append(Observation(reading.says, reading.cites, 0.9, 0.3))
        others = (self._busy(facts), _blocking_loop(facts), _over_nodes(facts), _waiting_cards(facts))
        return (*found, *(o for o in others if o is not None))

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2 or self._busy(facts) is not None:
            return ()
        return (Probe("profile.take", "the gap between result and next batch on each stage needs a trace", 3),)

    def advise(self, facts: Facts) -> Advice:
        ring, load = stages(facts), in_flight(facts)
        if _blocking_loop(facts) is not None:
            return Advice((_upgrade(facts),))
        if ring is None or load is None or load.value <= ring.value:
            return Advice()
        return Advice(
            (
                Remedy(
                    self.id,
                    "relaunch",
                    "Give the ring one slot more, so that a stage need not wait for the tokens on their way back",
                    Change(set={"--pp-async-batch-depth": "1"}),
                    ring.cites + load.cites,
                    risks=("compare answers before and after: depths above 1 gave wrong output in some versions",),
                    verify="busy share of all stages rises at the same load",
                    rollback="drop --pp-async-batch-depth and restart",
                ),
            )
        )

    def _busy(self, facts: Facts) -> Observation | None:
        for name in ("metrics.forward_busy", "metrics.fwd_occupancy", "decode.fwd_occupancy"):
            scale = 1 if name == "metrics.forward_busy" else 100
            busy = [value / scale for value in facts.numbers(name).values() if value > 0]
            if len(busy) < 2:
                continue
            low, high = min(busy), max(busy)
            says = f"stages are busy {low:.0%} to {high:.0%} of the time"
            if high - low < 0.1 and 0.5 <= high < 0.9:
                return Observation(says + ", all alike", facts.cite(name), 0.9, 0.06)
            return Observation(says, facts.cite(name), 0.1, 0.6)
        return _traced(facts)


def _traced(facts: Facts) -> Observation | None:
    """How much of the time each stage was on a forward, by a trace: the rest is the way of the tokens back."""
    work = at_work(facts)
    if work is None or len(work[0]) < 2:
        return None
    low, high = min(work[0].values()), max(work[0].values())
    says = f"in the trace stages are on a forward {low:.0%} to {high:.0%} of the time"
    if high - low >= 0.1 or not 0.5 <= high < 0.9:
        return Observation(says, work[1], 0.1, 0.6)
    held = held_by_host(facts)
    if held is not None and held.value > HELD:
        return Observation(f"{says}, all alike, but {held.says}", work[1] + held.cites, 0.5, 0.3)
    return Observation(says + ", all alike, and wait for the rest", work[1], 0.9, 0.06)


def _blocking_loop(facts: Facts) -> Observation | None:
    """Up to 0.5.6 a stage waits for its own sends on every pass (scheduler.event_loop_pp, scheduler_pp_mixin.py)."""
    version = facts.text("engine.version")
    if version is None or at_least(parse_version(version), "0.5.7") is not False:
        return None
    says = f"the loop of SGLang {version} waits for its sends and receives on every pass; 0.5.7 made them asynchronous"
    return Observation(says, facts.cite("engine.version"), 0.75, 0.2)


def _over_nodes(facts: Facts) -> Observation | None:
    nodes = facts.arg_number("nnodes") or 1
    if nodes < 2 or _blocking_loop(facts) is None:
        return None
    return Observation(f"hops cross {nodes:g} nodes, and each is waited for", facts.cite_args("nnodes"), 0.8, 0.25)


def _waiting_cards(facts: Facts) -> Observation | None:
    """A stage waits inside a receive kernel, which counts as use and draws little power."""
    spin = spinning(facts)
    return None if spin is None else Observation(spin.says, spin.cites, 0.7, 0.4)


def _upgrade(facts: Facts) -> Remedy:
    return Remedy(
        "PP007",
        "operator",
        "Upgrade SGLang to 0.5.7 or later, whose pipeline loop sends asynchronously",
        Change(),
        facts.cite("engine.version"),
        risks=("flags were renamed on the way: check the launch command against the new version first",),
        verify="the same load gives more tok/s with the same slots filled",
        rollback="the version you run now",
    )


CAUSE = ReturnPathExposed()
