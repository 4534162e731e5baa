"""What a card of each stage holds by a layer split: its weights, and the KV of a token."""

from collections.abc import Sequence
from itertools import accumulate

from ppagent.model.architecture import Architecture
from ppagent.model.quantisation import Part


def stage_weight_bytes(model: Architecture, split: Sequence[int], tp: int = 1) -> tuple[float, ...]:
    """Weights on each card of each stage; the first stage has the embedding, the last the LM head (a copy if tied)."""
    ends = list(accumulate(split))
    starts = [0, *ends[:-1]]
    weights = [
        sum(model.layer_bytes(layer) for layer in model.layers[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]
    weights[0] += model.part_bytes(Part.EMBEDDING, model.embedding)
    weights[-1] += model.part_bytes(Part.LM_HEAD, model.lm_head)
    return tuple(value / tp for value in weights)


def kv_bytes_per_token(
    model: Architecture, split: Sequence[int], kv_value_bytes: float = 2.0, tp: int = 1
) -> tuple[float, ...]:
    """KV bytes a token takes on a card of each stage. MLA's latent is on every TP rank, heads are divided."""
    divide = 1 if model.mla else tp
    ends = list(accumulate(split))
    starts = [0, *ends[:-1]]
    return tuple(
        sum(layer.kv_values for layer in model.layers[start:end]) * kv_value_bytes / divide
        for start, end in zip(starts, ends, strict=True)
    )
