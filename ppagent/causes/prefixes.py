"""Shared prompt beginnings: whether there are any, how much of them is found in the cache, and who decides the rank."""

from ppagent.causes.said import said
from ppagent.causes.sighting import trouble
from ppagent.causes.situation import Known, data_parallel
from ppagent.evidence.facts import Facts

_SHARED = (
    r"\b(?:shared?|common|same|identical|fixed)\b[^.]{0,40}"
    r"\b(?:prefix(?:es)?|system prompt|preamble|instructions|document)"
    r"|\bprefix(?:es)? (?:is|are) (?:shared|the same)|\bsystem prompt\b|\bfew-?shot\b|\bmulti-?turn\b"
    r"|\bprompts per (?:group|prefix)|\btoken prefix(?:es)?\b|\bgenerated-shared-prefix\b"
)
_UNSHARED = r"\brandom (?:prompts|tokens|ids)|\brandom-ids\b|\b(?:no|without) shared prefix|\bprompts share nothing"

LOAD_BLIND = ("round_robin", "total_requests", "total_tokens", "shortest_queue", "minimum_tokens", "auto")
"""Values of load_balance_method that do not look at prefixes (server arguments, 0.4.7 to 0.5.23)."""


def shared_prefixes(facts: Facts) -> Known | None:
    """Whether the prompts share beginnings: 1 yes, 0 no, None unknown. The data set says it, else the user."""
    for name in facts.items("bench.dataset"):
        if not isinstance(name, str):
            continue
        if "shared-prefix" in name or "multi-turn" in name:
            return Known(1, facts.cite("bench.dataset"), f"the benchmark's data set is {name}")
        if name.startswith("random"):
            return Known(0, facts.cite("bench.dataset"), f"the benchmark's prompts are {name}: they share nothing")
    spoken = said(facts, _UNSHARED)
    if spoken is not None:
        return Known(0, spoken.cites, spoken.says)
    return said(facts, _SHARED)


def prompts_share(facts: Facts) -> bool:
    """Whether there is evidence that prompts share beginnings."""
    shared = shared_prefixes(facts)
    return shared is not None and shared.value > 0


def cached_share(facts: Facts) -> Known | None:
    """Share of prompt tokens found in the cache, by the prefill lines, else of the last prefill batch."""
    for name, what in (("prefill.cached_share", "the prompt tokens"), ("metrics.cache_hit_rate", "the last prefill")):
        value = facts.number(name)
        if value is not None:
            return Known(value, facts.cite(name), f"{value:.0%} of {what} came from the prefix cache")
    return None


def radix_off(facts: Facts) -> Known | None:
    """Known where the prefix cache is switched off."""
    if facts.arg_flag("disable_radix_cache"):
        return Known(1, facts.cite_args("disable_radix_cache"), "disable_radix_cache is set")
    logged = trouble(facts, "prefix_cache_disabled")
    return None if logged is None else Known(1, logged.cites, "the log says that no prefix is kept")


def load_blind_balancing(facts: Facts) -> Known | None:
    """Known where data-parallel ranks are chosen without regard to prefixes."""
    ranks = data_parallel(facts)
    if ranks is None or ranks.value < 2:
        return None
    method = facts.arg_text("load_balance_method")
    if method is None:
        return Known(1, ranks.cites, "requests are dealt out by the default method")
    if method not in LOAD_BLIND:
        return None
    return Known(1, facts.cite_args("load_balance_method"), f"requests are dealt out by {method}")
