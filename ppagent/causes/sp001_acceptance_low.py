"""SP001 acceptance too low

What it is
    Speculative decoding drafts tokens that are seldom accepted, so that each step pays for the draft and for the
    verification of all drafted tokens, and gains hardly more than the one token of plain decoding.

Why it matters
    At a large batch the extra tokens cost real time; the server is then slower than without speculation.

Signals
    `accept len` near 1 on decode lines, a low accept rate.

What refutes it
    No speculative algorithm; two accepted tokens a step or more. Where speculation adapts by itself an accept length
    of exactly 1 says that it has stepped aside, not that it fails.

Remedies
    Fewer draft tokens, or none.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.speculation import accept_length, algorithm, draft_tokens, switched_off, without
from ppagent.evidence.facts import Facts


class AcceptanceLow:
    id = "SP001"
    name = "acceptance too low"
    prior = 0.05
    wants = ("args.speculative_algorithm", "decode.accept_len.mean", "decode.accept_rate.mean", "metrics.accept_length")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        off = switched_off(facts)
        if off is not None:
            return (off,)
        found = (_length(facts), _rate(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        on = algorithm(facts)
        if on is None:
            return (Probe("http.info", "whether speculation is on is not known", 1),)
        if on.value and accept_length(facts) is None:
            return (Probe("logs.decode", "how many drafted tokens are accepted is not known", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        length, drafted = accept_length(facts), draft_tokens(facts)
        if length is None:
            return Advice()
        off = without(self.id, facts, length, "the decode throughput rises at the same load", alone=False)
        fewer = Remedy(
            self.id,
            "relaunch",
            "Draft one token a step" + (f" instead of {drafted.value - 1:g}" if drafted is not None else ""),
            Change(
                set={
                    "--speculative-num-steps": "1",
                    "--speculative-eagle-topk": "1",
                    "--speculative-num-draft-tokens": "2",
                }
            ),
            length.cites,
            risks=("the gain stays small where the draft is poor",),
            verify="the decode throughput rises at the same load, above that without speculation",
            rollback="the speculative flags of before",
            alone=True,
        )
        why = "more draft tokens cost more and are accepted less"
        return Advice((off, fewer), (Declined("--speculative-num-steps", why, length.cites),))


def _length(facts: Facts) -> Observation | None:
    length = accept_length(facts)
    if length is None:
        return None
    if length.value <= 1.02 and facts.arg_flag("speculative_adaptive"):
        says = f"{length.says}, and speculation adapts by itself: it has stepped aside"
        return Observation(says, length.cites, 0.3, 0.2)
    if length.value <= 1.3:
        return Observation(length.says, length.cites, 0.9, 0.012)
    if length.value <= 1.5:
        return Observation(length.says, length.cites, 0.7, 0.08)
    return Observation(length.says, length.cites, 0.04, 0.7) if length.value >= 2 else None


def _rate(facts: Facts) -> Observation | None:
    rate, length = facts.first("decode.accept_rate.mean", "decode.accept_rate.p50"), accept_length(facts)
    if rate is None or rate.number is None or (length is not None and length.value <= 1.3):
        return None
    says = f"{rate.number:.0%} of the drafted tokens are accepted"
    if rate.number < 0.25:
        return Observation(says, (rate.evidence,), 0.6, 0.15)
    return Observation(says, (rate.evidence,), 0.15, 0.6) if rate.number >= 0.6 else None


CAUSE = AcceptanceLow()
