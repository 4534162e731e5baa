"""What the weights take of a card: per stage from the log, for the whole model from the log or its config."""

import math

from ppagent.causes.cards import card, cite_all, numbers_by_gpu
from ppagent.causes.links import world
from ppagent.causes.physics import architecture_of
from ppagent.causes.sighting import trouble_words
from ppagent.causes.situation import Known, stages
from ppagent.evidence.facts import Facts

ROOM_FOR_WEIGHTS = 0.65
"""Share of a card that weights may take and leave a useful KV pool."""


def card_gib(facts: Facts) -> Known | None:
    """Memory of the smallest card: sampled, as the out-of-memory message names it, or by the card's name."""
    totals = numbers_by_gpu(facts, "gpu.memory_total_mib")
    if totals:
        smallest = min(totals.values()) / 1024
        return Known(smallest, cite_all(facts, "gpu.memory_total_mib"), f"{smallest:.0f} GiB a card")
    said = trouble_words(facts, "cuda_oom", "total").split()
    if said[1:2] == ["GiB"]:
        return Known(float(said[0]), facts.cite("trouble.cuda_oom.total"), f"{said[0]} GiB a card")
    known = card(facts)
    if known is None:
        return None
    return Known(known[0].memory_gib, known[1], f"{known[0].memory_gib:.0f} GiB a card")


def heaviest_gib(facts: Facts) -> Known | None:
    """Weights on the rank that holds most of them."""
    weights = facts.numbers("start.weights_gib")
    if not weights:
        return None
    rank = max(weights, key=lambda label: weights[label])
    return Known(weights[rank], facts.cite("start.weights_gib"), f"{weights[rank]:.1f} GiB of weights on {rank}")


def model_gib(facts: Facts) -> Known | None:
    """Weights of one replica, all ranks together: the log's where every stage is in it, else counted by the config."""
    logged, ring, total = facts.numbers("start.weights_gib"), stages(facts), world(facts)
    if logged and ring is not None and total is not None and len(logged) >= ring.value:
        whole = sum(logged.values()) / len(logged) * total.value
        return Known(whole, facts.cite("start.weights_gib"), f"{whole:.0f} GiB of weights in all")
    model = architecture_of(facts)
    if model is None:
        return None
    whole = model.weight_bytes() / 2**30
    cites = facts.cite("model.num_hidden_layers", "model.hidden_size")[:1]
    return Known(whole, cites, f"about {whole:.0f} GiB of weights by its config")


def cards_needed(facts: Facts) -> Known | None:
    """Cards that hold the weights with room for a KV pool."""
    weights, memory = model_gib(facts), card_gib(facts)
    if weights is None or memory is None or not memory.value:
        return None
    count = max(1, math.ceil(weights.value / (ROOM_FOR_WEIGHTS * memory.value)))
    says = f"{weights.says}, {memory.says}: {count} card{'s' if count > 1 else ''} with room for KV"
    return Known(count, weights.cites + memory.cites, says)
