"""Whether another layer split fits the cards, by what the start-up log printed and SGLang's own rule for the pool."""

from ppagent.causes.physics import architecture_of
from ppagent.causes.situation import stages, tensor_parallel
from ppagent.causes.split import layer_split
from ppagent.causes.stage_times import Pick, by_stage
from ppagent.evidence.facts import Facts
from ppagent.model.architecture import Architecture
from ppagent.model.pool import Layout, Pool
from ppagent.model.roofline import Roofline

KEEP_SHARE = 0.75
"""Share of the pool of now that a split must leave, where less was seen in use (this tool's rule)."""

HEADROOM = 1.5
"""Times the most that was seen in use that a split must leave (this tool's rule)."""

USUAL_FRACTION = 0.9
"""Taken for `mem_fraction_static` where it is not known."""

COLD_KV_SHARE = 0.10
"""Share of a card's memory left for KV when a split is chosen and no start-up log told the pool."""

PAGE_TOKENS = 256
"""A pool is a whole number of pages: the largest that a backend asks for."""

NOT_KNOWN = "not known whether it fits: no start-up log told what weights and KV pool take on each card"


def pool_of(facts: Facts) -> Pool | None:
    """Weights and pool of the fullest card of each stage, as the start-up log printed them; None without all stages,
    or where the launch bounds the tokens and nothing tells how many there were room for."""
    ring, tokens = stages(facts), facts.numbers("start.kv_tokens")
    if ring is None or not tokens or min(tokens.values()) < 1:
        return None
    count, least = int(ring.value), int(min(tokens.values()))
    weights, kv = (_of_stages(facts, f"start.{name}", count) for name in ("weights_gib", "kv_gib"))
    free = _of_stages(facts, "start.avail_after_pool_gib", count, min)
    if not weights or not kv or max(kv) <= 0:
        return None
    asked, fraction = facts.arg_number("max_total_tokens"), facts.arg_number("mem_fraction_static")
    if asked is None or asked > least + PAGE_TOKENS:
        return Pool(weights, kv, least, max(weights) + max(kv), free)
    if not free or not fraction:
        return None
    taken_gib = min(w + k + f for w, k, f in zip(weights, kv, free, strict=True))
    return Pool(weights, kv, least, fraction * taken_gib, free, least)


def weight_limit_gib(facts: Facts, roofline: Roofline) -> float:
    """Most weights, as the model's config makes them, that a card may hold if the pool is to stay large enough."""
    pool, split, model = pool_of(facts), layer_split(facts), roofline.architecture
    if pool is None or split is None or sum(split.layers) != len(model.layers):
        fraction = facts.arg_number("mem_fraction_static") or USUAL_FRACTION
        return roofline.card.memory_gib * (fraction - COLD_KV_SHARE)
    return pool.weight_limit_gib(model, Layout(split.layers, roofline.tp), _kept_tokens(facts, pool))


def budget_gib(facts: Facts, roofline: Roofline) -> float:
    """What weights, as the model's config makes them, and KV may take together on a card."""
    pool, split, model = pool_of(facts), layer_split(facts), roofline.architecture
    if pool is None or split is None or sum(split.layers) != len(model.layers):
        return roofline.card.memory_gib * (facts.arg_number("mem_fraction_static") or USUAL_FRACTION)
    return pool.weight_limit_gib(model, Layout(split.layers, roofline.tp), 0)


def fit_said(facts: Facts, now: tuple[int, ...], then: tuple[int, ...]) -> str:
    """What layers as in `then` instead of `now` do to the pool, with its figures; else that it is not known whether
    they fit."""
    pool, model = pool_of(facts), architecture_of(facts)
    if pool is None or model is None or sum(now) != len(model.layers) or not _has_kv(model):
        return NOT_KNOWN
    tp = _ranks(facts)
    after = pool.after(model, Layout(now, tp), Layout(then, tp))
    weights = f"weights on the fullest card from {max(pool.weights_gib):.1f} to {max(after.weights_gib):.1f} GiB"
    if not after.tokens:
        return f"does not fit: {weights}, which by SGLang's rule leaves nothing for the KV pool"
    said = f"the KV pool goes from {_millions(pool.tokens)} to {_millions(after.tokens)} tokens by SGLang's rule"
    free = f", {min(after.free_gib):.1f} GiB free beside it on the fullest card" if after.free_gib else ""
    used = _most_in_use(facts)
    seen = "" if used is None else f"; at most {max(used, 0.01):.0%} of it was seen in use"
    return f"{said} ({weights}{free}){seen}"


def _kept_tokens(facts: Facts, pool: Pool) -> float:
    used = _most_in_use(facts)
    return pool.tokens * max(KEEP_SHARE, HEADROOM * (used or 0.0))


def _most_in_use(facts: Facts) -> float | None:
    return facts.number("decode.token_usage.max")


def _ranks(facts: Facts) -> int:
    ranks = tensor_parallel(facts)
    return 1 if ranks is None else int(ranks.value)


def _has_kv(model: Architecture) -> bool:
    return any(layer.kv_values for layer in model.layers)


def _of_stages(facts: Facts, name: str, count: int, pick: Pick = max) -> tuple[float, ...]:
    """What `pick` takes of each stage's ranks; empty where a stage has none."""
    found = by_stage(facts.numbers(name), pick)
    return tuple(found[stage] for stage in range(count)) if set(found) == set(range(count)) else ()


def _millions(tokens: int) -> str:
    return f"{tokens / 1e6:.3g} million" if tokens >= 1e6 else f"{tokens / 1e3:.3g} thousand"
