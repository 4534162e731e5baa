"""The honest alternative: what no setting of the pipeline gives a single user, and what other ranks would."""

from collections.abc import Collection

from ppagent.causes.cause import Declined
from ppagent.causes.links import nodes, nvlink, world
from ppagent.causes.physics import measured_levels, roofline_of
from ppagent.causes.situation import stages
from ppagent.evidence.facts import Facts
from ppagent.model.other_axis import one_request

ASKS = frozenset({"PP001", "PP002", "PP004", "CG001"})
"""Causes whose remedies somebody may pull in the hope of a faster single request."""

LEVER = "any setting of this pipeline, for one request alone"


def single_request(supported: Collection[str], facts: Facts) -> tuple[Declined, ...]:
    """What one request can have at the most, as a lever declined; empty unless model, cards and their links are known,
    and where one was measured faster than that: then they are not what they seem.

    Priced for cards of one host without NVLink only: where it joins them PP009 proposes tensor parallelism itself.
    """
    roofline, ranks, ring, link, hosts = roofline_of(facts), world(facts), stages(facts), nvlink(facts), nodes(facts)
    if roofline is None or ranks is None or ring is None or ring.value < 2 or not ASKS & set(supported):
        return ()
    if link is None or link.yes or hosts is None or hosts.value > 1:
        return ()
    heads, cards = facts.number("model.num_attention_heads"), int(ranks.value)
    if heads is None or heads % cards:
        return ()
    found = one_request(roofline, cards)
    alone = [level for level in measured_levels(facts) if level.concurrency == 1 and level.tokens_per_s is not None]
    if alone and (alone[0].tokens_per_s or 0.0) > found.pipeline_most:
        return ()
    now = f", {alone[0].tokens_per_s:.3g} now" if alone else ""
    (low, high), (poor_low, poor_high) = found.tensor, found.tensor_poorly
    why = (
        f"each of its tokens reads {found.gigabytes:.3g} GB, {found.pipeline_ms:.3g} ms at the cards' peak bandwidth "
        f"whatever the stages, so none passes {found.pipeline_most:.2g} tok/s{now}. TP{cards} on this box would do "
        f"about {low:.0f}-{high:.0f} tok/s at C=1 with peer-to-peer over PCIe, {poor_low:.0f}-{poor_high:.0f} where "
        "the topology is poor, scaled by the model's bytes and all-reduces from one public report: another launch, to "
        "be measured"
    )
    cites = (*ranks.cites, *link.cites, *facts.cite("model.num_attention_heads", "gpu.names"))
    return (Declined(LEVER, why, tuple(dict.fromkeys(cites))),)
