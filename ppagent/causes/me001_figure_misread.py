"""ME001 figure misread

What it is
    A figure does not mean what it is taken for. The usual ones: a rate over the whole run, prompts included, taken for
    the decode rate; a time to first token measured without streaming; the copies of one line that all pipeline stages
    print, added up; one request's share taken for the whole; the first line after an idle stretch; the sampled
    utilisation of a card that only waits.

Why it matters
    Hours go into a fault that is none, or a real one is looked for in the wrong place. Nothing on the server is broken
    by it, so by itself it leaves a verdict of healthy.

Signals
    Two figures of the same thing that disagree by a telling factor: the number of stages, the number of requests, the
    share of prefill; utilisation near 100 % at little power.

What refutes it
    The figures agree: what the client measures and what the log says of the same load, within a quarter.

Remedies
    The right figure, and where it stands.
"""

from collections.abc import Callable

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.misread_rates import (
    after_idle,
    one_share_of_all,
    rates_agree,
    summed_over_stages,
    wall_clock_for_decode,
)
from ppagent.causes.misreadings import Misreading, busy_at_idle_power, snapshot, ttft_without_stream
from ppagent.causes.said import stated_rates
from ppagent.evidence.facts import Facts

KINDS: tuple[Callable[[Facts], Misreading | None], ...] = (
    ttft_without_stream,
    summed_over_stages,
    one_share_of_all,
    wall_clock_for_decode,
    after_idle,
    busy_at_idle_power,
    snapshot,
)


class FigureMisread:
    id = "ME001"
    name = "figure misread"
    prior = 0.08
    wants = (
        "stated.sentences",
        "stated.levels",
        "bench.levels",
        "decode.throughput.p50",
        "gpu.utilization",
        "gpu.power_w",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        misread = [m for kind in KINDS if (m := kind(facts)) is not None]
        found = [Observation(m.says, m.cites, m.if_true, m.if_false) for m in misread]
        agreement = rates_agree(facts)
        # A speed that agrees says nothing about a time to first token that is none.
        if agreement is not None and ttft_without_stream(facts) is None:
            found.append(Observation(agreement.says, agreement.cites, 0.2, 0.7))
        return tuple(found)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if rates_agree(facts) is not None or not (stated_rates(facts) or facts.get("bench.levels") is not None):
            return ()
        if facts.get("decode.throughput.p50") is not None:
            return ()
        return (Probe("logs.decode", "what the server itself says of its speed is not known", 0),)

    def advise(self, facts: Facts) -> Advice:
        misread = [m for kind in KINDS if (m := kind(facts)) is not None and m.if_true > m.if_false]
        misread.sort(key=lambda m: m.if_true / m.if_false, reverse=True)
        return Advice(
            tuple(
                Remedy(self.id, "operator", m.right, Change(), m.cites, verify=m.verify, rollback="none needed")
                for m in misread[:2]
            )
        )


CAUSE = FigureMisread()
