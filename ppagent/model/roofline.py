"""The bandwidth roofline of decoding: bytes a step must read, and the tokens a second no setting can pass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.architecture import Architecture, Layer
from ppagent.model.hardware import Card
from ppagent.model.mixers import Mixer
from ppagent.model.quantisation import Part


def distinct_experts(experts: int, active: int, tokens: float) -> float:
    """Experts that `tokens` tokens touch together, in the mean and under uniform routing; skewed touches fewer."""
    if experts == 0:
        return 0.0
    return experts * (1.0 - math.pow(1.0 - active / experts, tokens))


@dataclass(frozen=True)
class Roofline:
    """`architecture` on cards like `card`, each stage on `tp` of them, with `context_tokens` of KV for a request."""

    architecture: Architecture
    card: Card
    tp: int = 1
    context_tokens: int = 0
    kv_bytes: float = 2.0

    def layer_bytes(self, layer: Layer, batch: float) -> float:
        """Bytes a decode step of `batch` requests reads in `layer`: weights once, touched experts, each one's KV."""
        model = self.architecture
        touched = distinct_experts(layer.experts, layer.active, batch)
        window = model.sliding_window if layer.mixer is Mixer.SLIDING else None
        context = min(self.context_tokens, window) if window else self.context_tokens
        return (
            model.part_bytes(Part.ATTENTION, layer.attention)
            + model.part_bytes(Part.DENSE_MLP, layer.dense_mlp)
            + model.part_bytes(Part.SHARED, layer.shared)
            + model.part_bytes(Part.ROUTER, layer.router)
            + model.part_bytes(Part.ROUTED, layer.expert) * touched
            + layer.kv_values * self.kv_bytes * context * batch
        )

    def head_bytes(self) -> float:
        """Bytes of the LM head, read by the last stage in every step."""
        return self.architecture.part_bytes(Part.LM_HEAD, self.architecture.lm_head)

    def layer_ms(self, layer: Layer, batch: float) -> float:
        """Time of `layer` at peak bandwidth."""
        return self.card.read_ms(self.layer_bytes(layer, batch) / self.tp)

    def head_ms(self) -> float:
        """Time of the LM head at peak bandwidth."""
        return self.card.read_ms(self.head_bytes() / self.tp)

    def ring_bytes(self, batch: float) -> float:
        """Bytes that one micro-batch of `batch` requests reads on its way round all stages."""
        return sum(self.layer_bytes(layer, batch) for layer in self.architecture.layers) + self.head_bytes()

    def ring_ms(self, batch: float) -> float:
        """Time of one turn at peak bandwidth, nothing else counted."""
        return self.card.read_ms(self.ring_bytes(batch) / self.tp)

    def stage_ms(self, split: Sequence[int], batch: float) -> tuple[float, ...]:
        """Time of each stage at peak bandwidth when `split` gives the layers a stage; the LM head is on the last."""
        if sum(split) != len(self.architecture.layers):
            raise ValueError(f"a split of {sum(split)} layers does not fit {len(self.architecture.layers)}")
        times: list[float] = []
        start = 0
        for count in split:
            layers = self.architecture.layers[start : start + count]
            times.append(sum(self.layer_ms(layer, batch) for layer in layers))
            start += count
        times[-1] += self.head_ms()
        return tuple(times)
