"""How layers are best split over stages for a model on given cards."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ppagent.model.architecture import Architecture
from ppagent.model.quantisation import Part
from ppagent.model.roofline import Roofline


@dataclass(frozen=True)
class Partition:
    """A split with what it means: decode stage times at peak bandwidth, balances (mean over slowest), weights a stage.

    `prefill_balance` counts layers only, since a prompt's time is theirs: what helps decode can cost prefill.
    """

    layers: tuple[int, ...]
    stage_ms: tuple[float, ...]
    weight_gib: tuple[float, ...]

    @property
    def decode_balance(self) -> float:
        """Share of a full ring's ideal speed that this split reaches in decoding, at peak bandwidth."""
        return sum(self.stage_ms) / len(self.stage_ms) / max(self.stage_ms)

    @property
    def prefill_balance(self) -> float:
        """The same for prefill, where layers alone count."""
        return sum(self.layers) / len(self.layers) / max(self.layers)

    @property
    def text(self) -> str:
        """The value for SGLANG_PP_LAYER_PARTITION."""
        return ",".join(str(count) for count in self.layers)


def describe_partition(roofline: Roofline, split: Sequence[int], batch: float) -> Partition:
    """`split` with its stage times at `batch` requests a slot and its weights."""
    weights = stage_weight_bytes(roofline.architecture, split, roofline.tp)
    return Partition(tuple(split), roofline.stage_ms(split, batch), tuple(value / 2**30 for value in weights))


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


def most_layers(roofline: Roofline, stages: int, weight_limit_gib: float) -> tuple[int, ...]:
    """Layers that a card of each stage holds within `weight_limit_gib`, whichever layers they are: each is counted as
    the heaviest there is, the embedding on the first stage and the LM head on the last."""
    model, limit = roofline.architecture, weight_limit_gib * 2**30 * roofline.tp
    heaviest = max(model.layer_bytes(layer) for layer in model.layers)
    room = [limit] * stages
    room[0] -= model.part_bytes(Part.EMBEDDING, model.embedding)
    room[-1] -= model.part_bytes(Part.LM_HEAD, model.lm_head)
    return tuple(max(0, int(value // heaviest)) for value in room)


def best_partition(
    roofline: Roofline, stages: int, batch: float, weight_limit_gib: float | None = None
) -> Partition | None:
    """The split with the shortest slowest stage at `batch` requests a slot; None where no split fits.

    No stage's weights may pass `weight_limit_gib` on a card (leave room for KV in it). Of equally fast splits the one
    whose stages differ least is taken, which also leaves most KV.
    """
    costs = _Costs(roofline, batch, float("inf") if weight_limit_gib is None else weight_limit_gib * 2**30)
    count = len(roofline.architecture.layers)
    if stages > count:
        return None
    best: list[tuple[float, float, tuple[int, ...]] | None] = [None] * (count + 1)
    best[0] = (0.0, 0.0, ())
    for stage in range(stages):
        best = _extend(best, costs, stage, stages)
    found = best[count]
    return None if found is None else describe_partition(roofline, found[2], batch)


class _Costs:
    """Times and weights of runs of layers, by prefix sums."""

    def __init__(self, roofline: Roofline, batch: float, limit_bytes: float) -> None:
        model = roofline.architecture
        layers = model.layers
        self.limit_bytes = limit_bytes
        self._ms = [0.0, *accumulate(roofline.layer_ms(layer, batch) for layer in layers)]
        self._bytes = [0.0, *accumulate(model.layer_bytes(layer) / roofline.tp for layer in layers)]
        self._head_ms = roofline.head_ms()
        self._head_bytes = model.part_bytes(Part.LM_HEAD, model.lm_head) / roofline.tp
        self._table_bytes = model.part_bytes(Part.EMBEDDING, model.embedding) / roofline.tp

    def stage(self, start: int, end: int, first: bool, last: bool) -> float | None:
        """Time of layers `start` to `end` as one stage, None where its weights pass the limit."""
        weight = self._bytes[end] - self._bytes[start]
        weight += (self._table_bytes if first else 0.0) + (self._head_bytes if last else 0.0)
        if weight > self.limit_bytes:
            return None
        return self._ms[end] - self._ms[start] + (self._head_ms if last else 0.0)


def _extend(
    best: list[tuple[float, float, tuple[int, ...]] | None], costs: _Costs, stage: int, stages: int
) -> list[tuple[float, float, tuple[int, ...]] | None]:
    """One stage more: for each number of layers used so far the best split, judged by (slowest, spread)."""
    count = len(best) - 1
    extended: list[tuple[float, float, tuple[int, ...]] | None] = [None] * (count + 1)
    for start, before in enumerate(best):
        if before is None:
            continue
        for end in range(start + 1, count + 1):
            time_ms = costs.stage(start, end, stage == 0, stage == stages - 1)
            if time_ms is None:
                break
            key = (round(max(before[0], time_ms), 9), before[1] + time_ms * time_ms)
            known = extended[end]
            if known is None or key < known[:2]:
                extended[end] = (*key, (*before[2], end - start))
    return extended
