"""A layer split that carries filled slots better, by bytes and bandwidth: the LM head counts for the last stage."""

from ppagent.causes.cause import Change, Remedy
from ppagent.causes.physics import roofline_of
from ppagent.causes.split import layer_split
from ppagent.evidence.facts import Facts
from ppagent.model.partition import best_partition, describe_partition

WORTH_FROM = 1.10
"""Longest stage now over longest stage then from which a split is worth naming."""

KV_SHARE = 0.10
"""Share of the card's memory that is left for KV when a split is chosen."""


def better_split(cause: str, facts: Facts, filled: float, requests: float) -> Remedy | None:
    """The remedy that adds the best split to a restart; None without a known model and card, or without a gain."""
    roofline, split = roofline_of(facts), layer_split(facts)
    if roofline is None or split is None or sum(split.layers) != len(roofline.architecture.layers):
        return None
    batch = max(1.0, requests / filled)
    fraction = facts.arg_number("mem_fraction_static") or 0.9
    limit_gib = roofline.card.memory_gib * (fraction - KV_SHARE)
    best = best_partition(roofline, len(split.layers), batch, limit_gib)
    now = describe_partition(roofline, split.layers, batch)
    if best is None or max(now.stage_ms) < WORTH_FROM * max(best.stage_ms):
        return None
    return Remedy(
        cause,
        "relaunch",
        f"in the same restart split the layers {best.text} instead of {split.text}: the LM head makes the last "
        f"stage {max(now.stage_ms):.2f} ms of peak bandwidth a step, then {max(best.stage_ms):.2f} ms",
        Change(env={"SGLANG_PP_LAYER_PARTITION": best.text}),
        split.cites,
        risks=(
            f"the heaviest stage then holds {max(best.weight_gib):.0f} GiB of weights, which lowers the KV of all",
            "prefill of long prompts prefers the default split",
        ),
        verify="with filled slots all stages are busy alike",
        rollback="unset SGLANG_PP_LAYER_PARTITION and restart",
        extends=True,
    )
