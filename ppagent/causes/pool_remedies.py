"""Ways to make what runs fit the KV pool, each worked out from the evidence or left out."""

import math

from ppagent.causes.admission import requests_that_fit
from ppagent.causes.cause import Change, Remedy
from ppagent.causes.situation import Cites, Known, data_parallel, in_flight, stages
from ppagent.evidence.facts import Facts

KEEP_FREE_GIB = 4.0
"""Left to activations, collectives and fragmentation when the pool is made larger."""

MOST_FRACTION = 0.93
"""No larger share of a card is proposed: above it, prefill and graph capture start to run out of memory."""


def fewer_running(cause: str, facts: Facts, fits: Known) -> Remedy:
    """Cap the running requests at what fits. The flag counts all data-parallel ranks together."""
    ranks = data_parallel(facts)
    total = int(fits.value * (ranks.value if ranks is not None else 1))
    risks = ["requests above the cap wait in the queue, so their time to first token rises"]
    ring = stages(facts)
    if ring is not None and ring.value > 1:
        share = max(1, total // int(ring.value))
        risks.append(f"where no slot limit is set it becomes {share} a slot with this cap")
    return Remedy(
        cause,
        "relaunch",
        f"Run at most {total} requests, as many as the KV pool holds: {fits.says}",
        Change(set={"--max-running-requests": str(total)}),
        fits.cites,
        risks=tuple(risks),
        verify="no retraction lines and token usage below 0.95 at the same load",
        rollback="the previous --max-running-requests",
    )


def raised_token_limit(cause: str, facts: Facts, cites: Cites) -> Remedy | None:
    """A larger --max-total-tokens where somebody set it below what the load needs at full length. None where it was
    not set, or where the load or its lengths are not known. Memory still bounds the pool: SGLang takes the smaller of
    the two (0.4.7 to 0.5.23)."""
    limit, load, fits = facts.arg("max_total_tokens"), in_flight(facts), requests_that_fit(facts)
    if limit is None or not limit.number or load is None or fits is None or load.value <= fits.value:
        return None
    wanted = math.ceil(limit.number * load.value / fits.value / 256) * 256
    return Remedy(
        cause,
        "relaunch",
        f"The pool was limited to {limit.number:g} tokens by hand; {load.value:.3g} requests in flight need more",
        Change(set={"--max-total-tokens": str(wanted)}),
        (limit.evidence, *fits.cites, *load.cites, *cites),
        risks=("the limit may have been set to leave memory for something else on the cards",),
        verify="max_total_num_tokens rises, nothing queues, and there are no retraction lines at the same load",
        rollback=f"--max-total-tokens {limit.number:g}",
        alone=True,
    )


def larger_pool(cause: str, facts: Facts, cites: Cites) -> Remedy | None:
    """A larger mem_fraction_static, where every card keeps KEEP_FREE_GIB. None without room or without the figures."""
    fraction = facts.arg("mem_fraction_static")
    free = free_after_capture(facts)
    cards = [mib / 1024 for mib in facts.numbers("gpu.memory_total_mib").values() if mib > 0]
    if fraction is None or fraction.number is None or free is None or not cards:
        return None
    step = int(100 * (free.value - KEEP_FREE_GIB) / max(cards)) / 100
    wanted = min(MOST_FRACTION, round(fraction.number + step, 2))
    if wanted <= fraction.number:
        return None
    return Remedy(
        cause,
        "relaunch",
        f"Give the pool more of the card: {free.says}",
        Change(set={"--mem-fraction-static": f"{wanted:.2f}"}),
        (fraction.evidence, *free.cites, *cites),
        risks=("long prompts need activations too; too large a share ends in out of memory under load",),
        verify="max_total_num_tokens rises, no retraction lines, no CUDA out of memory under the longest prompts",
        rollback=f"--mem-fraction-static {fraction.number:g}",
        alone=True,
    )


def room_by_hand(cause: str, cites: Cites) -> Remedy:
    """What is left where no figure tells by how much the pool could grow."""
    return Remedy(
        cause,
        "operator",
        "Make room for more requests: a larger --mem-fraction-static while memory stays free after graph capture (the "
        "start log prints it), more cards, or shorter prompts and answers; until then the rest has to wait",
        Change(),
        cites,
        verify="max_total_num_tokens rises, and fewer requests wait at the same load",
        rollback="the previous --mem-fraction-static",
    )


def free_after_capture(facts: Facts) -> Known | None:
    """GiB free on the fullest card once weights, pool and graphs are in place."""
    for name in ("start.graph_avail_gib", "start.avail_after_pool_gib"):
        values = facts.numbers(name).values()
        if values:
            return Known(min(values), facts.cite(name), f"{min(values):.1f} GiB stay free on the fullest card")
    free = facts.number("start.available_gib")
    if free is None:
        return None
    return Known(free, facts.cite("start.available_gib"), f"{free:.1f} GiB stay free")


def more_conservative(cause: str, facts: Facts, cites: Cites) -> Remedy | None:
    """A larger reserve for tokens to come, so that fewer requests are let in. None where it is high already."""
    now = facts.arg_number("schedule_conservativeness")
    now = 1.0 if now is None else now
    if now >= 1.5:
        return None
    return Remedy(
        cause,
        "relaunch",
        "Let admission keep a larger reserve for tokens still to come",
        Change(set={"--schedule-conservativeness": f"{now + 0.3:.1f}"}),
        cites,
        risks=("requests wait longer before they are let in",),
        verify="retraction lines become rare at the same load",
        rollback=f"--schedule-conservativeness {now:g}",
        alone=True,
    )
