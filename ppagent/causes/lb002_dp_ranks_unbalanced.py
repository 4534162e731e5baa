"""LB002 data-parallel ranks unbalanced

What it is
    Requests are dealt out to the data-parallel ranks unevenly: some ranks run and queue many, others few. Or they are
    dealt out evenly by load and without regard to prefixes, so that every rank computes what another one holds.

Why it matters
    With DP attention all ranks step together, so the fullest one sets the pace; without it the idle ranks are lost.

Signals
    `#running-req`, `#queue-req` or token usage that differ between DP ranks at the same time; a queue on one rank while
    another has none; an imbalance ratio well above 1; cached shares that fall or differ between ranks.

What refutes it
    One rank only; ranks that carry about the same.

Remedies
    Another load_balance_method, or a router in front that knows the ranks and the prefixes they hold.
"""

from ppagent.causes.balance import cached_spread, even, other_method, queue_beside_idle, spread
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.kv004_prefix_cache_unused import WORKS, affinity
from ppagent.causes.prefixes import cached_share, load_blind_balancing, prompts_share, radix_off
from ppagent.causes.situation import data_parallel
from ppagent.evidence.facts import Facts


class DpRanksUnbalanced:
    id = "LB002"
    name = "DP ranks unbalanced"
    prior = 0.05
    wants = (
        "args.dp_size",
        "decode.by_dp",
        "metrics.running_reqs_by_dp",
        "metrics.queue_reqs_by_dp",
        "metrics.dp_imbalance",
        "prefill.by_dp",
        "args.load_balance_method",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ranks = data_parallel(facts)
        if ranks is not None and ranks.value < 2:
            return (Observation("there is one data-parallel rank only", ranks.cites, 0.001, 0.6),)
        found = (_spread(facts), _queue(facts), _ratio(facts), _prefixes(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ranks = data_parallel(facts)
        if spread(facts) is not None or (ranks is not None and ranks.value < 2):
            return ()
        return (
            Probe("logs.decode", "how many requests each DP rank runs is not known", 0),
            Probe("http.metrics", "running and waiting requests are counted there by rank", 1),
        )

    def advise(self, facts: Facts) -> Advice:
        known = spread(facts) or load_blind_balancing(facts)
        if known is None:
            return Advice()
        if prompts_share(facts):
            return Advice(affinity(self.id, facts, known.cites))
        method = facts.arg_text("load_balance_method") or "the default method"
        wanted = other_method(facts)
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Balance the ranks by {wanted.replace('_', ' ')} instead of {method}",
            Change(set={"--load-balance-method": wanted}),
            known.cites,
            risks=("balancing by load ignores prefixes: watch the cached share of each rank",),
            verify="#running-req and #queue-req are alike on all DP ranks",
            rollback="the previous --load-balance-method",
        )
        why = "the cap is per rank; raising it feeds the full ranks more"
        declined = Declined("--max-running-requests", why, known.cites)
        return Advice((remedy,), (declined,))


def _spread(facts: Facts) -> Observation | None:
    known = spread(facts)
    if known is None:
        return None
    if even(facts):
        return Observation(known.says, known.cites, 0.1, 0.8)
    if known.value >= 2:
        return Observation(known.says, known.cites, 0.85, 0.02)
    return Observation(known.says, known.cites, 0.7, 0.1) if known.value >= 1.5 else None


def _queue(facts: Facts) -> Observation | None:
    known = queue_beside_idle(facts)
    return None if known is None else Observation(known.says, known.cites, 0.6, 0.03)


def _ratio(facts: Facts) -> Observation | None:
    ratio = facts.number("metrics.dp_imbalance")
    if ratio is None or spread(facts) is not None:
        return None
    says = f"the fullest DP rank holds {ratio:.2f} times the mean"
    cites = facts.cite("metrics.dp_imbalance")
    if ratio >= 1.5:
        return Observation(says, cites, 0.85, 0.015)
    return Observation(says, cites, 0.1, 0.7) if ratio <= 1.15 else None


def _prefixes(facts: Facts) -> Observation | None:
    """Even by load and still badly dealt: shared prefixes that hardly any rank finds in its cache."""
    share, differs, method = cached_share(facts), cached_spread(facts), load_blind_balancing(facts)
    if not prompts_share(facts) or radix_off(facts) is not None or method is None:
        return None
    if differs is not None and differs.value >= 0.3:
        return Observation(differs.says, differs.cites, 0.5, 0.02)
    if share is None or share.value >= WORKS:
        return None
    says = f"{method.says}, prompts share prefixes, and {share.says}"
    return Observation(says, method.cites + share.cites, 0.7, 0.006)


CAUSE = DpRanksUnbalanced()
