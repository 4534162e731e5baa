"""KV004 prefix cache off or thrashing

What it is
    Prompts share long beginnings, and the server computes them again for every request: the prefix cache is switched
    off, too small to keep them, or each prefix is sent to data-parallel ranks that do not hold it.

Why it matters
    A shared prefix of thousands of tokens costs its whole prefill each time, which delays first tokens and takes the
    cards away from decoding.

Signals
    `disable_radix_cache`, or a small cached share of the prompts, where the prompts are known to share prefixes (the
    user or the benchmark's data set says so); a cached share that differs between data-parallel ranks.

What refutes it
    A fair share of cached tokens; prompts that share nothing (random ones). A cache that is off is no fault where
    there is nothing to keep.

Remedies
    Switch the cache on; with data parallelism, send a prefix to the rank that holds it (a cache-aware router), and no
    balancing by load alone.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.prefixes import cached_share, load_blind_balancing, prompts_share, radix_off, shared_prefixes
from ppagent.causes.situation import data_parallel
from ppagent.evidence.facts import Facts

WORKS = 0.3
"""From this cached share on the prefix cache earns its keep."""


class PrefixCacheUnused:
    id = "KV004"
    name = "prefix cache off or thrashing"
    prior = 0.05
    wants = (
        "args.disable_radix_cache",
        "prefill.cached_share",
        "prefill.by_dp",
        "bench.dataset",
        "stated.sentences",
        "args.load_balance_method",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        found = (_cached(facts), _nothing_shared(facts), _shared(facts), _switched_off(facts), _scattered(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        share = cached_share(facts)
        if share is not None and share.value >= WORKS:
            return ()
        found = []
        if share is None and radix_off(facts) is None:
            found.append(Probe("logs.prefill", "how much of the prompts comes from the cache is not known", 0))
        if shared_prefixes(facts) is None:
            found.append(Probe("bench.results", "whether the prompts share a beginning is not known", 0))
        return tuple(found)

    def advise(self, facts: Facts) -> Advice:
        shared, off, balancing = shared_prefixes(facts), radix_off(facts), load_blind_balancing(facts)
        if shared is None:
            return Advice()
        remedies = []
        if off is not None:
            remedies.append(_switch_on(self.id, off.cites + shared.cites))
        if balancing is not None:
            remedies.extend(affinity(self.id, facts, balancing.cites + shared.cites))
        if not remedies:
            remedies.append(_keep_more(self.id, shared.cites))
        why = "it orders the work of a prompt and saves none of it"
        declined = Declined("--chunked-prefill-size", why, shared.cites)
        return Advice(tuple(remedies), (declined,))


def _switch_on(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "relaunch",
        "Switch the prefix cache on",
        Change(unset=("--disable-radix-cache",)),
        cites,
        risks=("some models or features ask for it to be off; the start-up log says so",),
        verify="#cached-token is above 0 on prefill lines and time to first token falls",
        rollback="--disable-radix-cache",
    )


def affinity(cause: str, facts: Facts, cites: tuple[str, ...]) -> tuple[Remedy, ...]:
    """Ways to keep a prefix on the rank that holds it, the thorough one last: it needs a router in front."""
    router = Remedy(
        cause,
        "operator",
        "Route by prefix: put a cache-aware router before the ranks, so that a prefix meets the rank that holds it",
        Change(),
        cites,
        risks=("a hot prefix can overload its rank",),
        verify="the cached share rises on every rank and time to first token falls",
        rollback="route as before",
    )
    method = facts.arg_text("load_balance_method")
    if method in (None, "round_robin", "auto"):
        return (router,)
    plain = Remedy(
        cause,
        "relaunch",
        f"Deal requests out in turn instead of by {method}",
        Change(set={"--load-balance-method": "round_robin"}),
        cites,
        risks=("ranks get uneven where request lengths differ much",),
        verify="the cached share rises on every rank and requests a second with it",
        rollback=f"--load-balance-method {method}",
    )
    return (plain, router)


def _keep_more(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "operator",
        "Send requests of one prefix together, or give the pool room to keep the prefixes between them",
        Change(),
        cites,
        verify="#cached-token rises on prefill lines",
        rollback="none needed",
    )


def _cached(facts: Facts) -> Observation | None:
    share = cached_share(facts)
    if share is None or radix_off(facts) is not None:
        return None
    if share.value >= WORKS:
        return Observation(share.says, share.cites, 0.04, 0.6)
    if not prompts_share(facts):
        return None
    says = f"{share.says} although prompts share their beginnings"
    return Observation(says, share.cites, 0.8, 0.02 if share.value < 0.15 else 0.08)


def _nothing_shared(facts: Facts) -> Observation | None:
    """Prompts of random tokens: a cache has nothing to find, on or off."""
    shared = shared_prefixes(facts)
    if shared is None or shared.value:
        return None
    return Observation(shared.says, shared.cites, 0.02, 0.6)


def _shared(facts: Facts) -> Observation | None:
    shared = shared_prefixes(facts)
    if shared is None or not shared.value:
        return None
    return Observation(shared.says, shared.cites, 0.9, 0.25)


def _switched_off(facts: Facts) -> Observation | None:
    """Only where something is shared: without it, a cache that is off loses nothing."""
    off = radix_off(facts)
    if off is None or not prompts_share(facts):
        return None
    return Observation(f"{off.says}, while prefixes are shared", off.cites, 0.8, 0.01)


def _scattered(facts: Facts) -> Observation | None:
    """Data-parallel ranks that are fed by load alone each compute the same prefixes."""
    balancing, share, ranks = load_blind_balancing(facts), cached_share(facts), data_parallel(facts)
    if balancing is None or ranks is None or not prompts_share(facts) or radix_off(facts) is not None:
        return None
    if share is not None and share.value >= WORKS:
        return None
    says = f"{balancing.says} over {ranks.value:g} DP ranks, without regard to who holds a prefix"
    return Observation(says, balancing.cites + ranks.cites, 0.6, 0.15)


CAUSE = PrefixCacheUnused()
