"""How layers are best split over stages for a model on given cards."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ppagent.model.dealing import Run, best_dealt
from ppagent.model.quantisation import Part
from ppagent.model.roofline import Roofline
from ppagent.model.stage_costs import StageCosts


@dataclass(frozen=True)
class Partition:
    """A split and its decode stage times.

    Times are those of the bytes at peak bandwidth and of what was said to be paid for each layer beside them.
    """

    layers: tuple[int, ...]
    stage_ms: tuple[float, ...]

    @property
    def text(self) -> str:
        """The value for SGLANG_PP_LAYER_PARTITION."""
        return ",".join(str(count) for count in self.layers)


def describe_partition(roofline: Roofline, split: Sequence[int], batch: float, per_layer_ms: float = 0.0) -> Partition:
    """`split` with its stage times at `batch` requests a slot, each layer `per_layer_ms` beyond its bytes."""
    least_ms = roofline.stage_ms(split, batch)
    times_ms = tuple(ms + per_layer_ms * count for ms, count in zip(least_ms, split, strict=True))
    return Partition(tuple(split), times_ms)


def best_partition(
    roofline: Roofline,
    stages: int,
    batch: float,
    weight_limit_gib: float | None = None,
    per_layer_ms: float = 0.0,
    budget_gib: float | None = None,
) -> Partition | None:
    """The split with the shortest slowest stage at `batch` requests a slot, each layer `per_layer_ms` beyond its
    bytes; None where no split fits.

    No stage's weights may pass `weight_limit_gib` on a card (leave room for KV in it). Of equally fast splits the one
    is taken that leaves KV for most tokens where weights and KV of a card have `budget_gib` together, by SGLang's rule;
    without a budget the one whose heaviest card is the lightest. (`best_dealt` has the whole ranking.)
    """
    costs = _Costs(roofline, stages, batch, per_layer_ms)
    split = best_dealt(len(roofline.architecture.layers), stages, costs.run, *_bytes(weight_limit_gib, budget_gib))
    return None if split is None else describe_partition(roofline, split, batch, per_layer_ms)


def best_by_times(
    roofline: Roofline, costs: StageCosts, weight_limit_gib: float | None = None, budget_gib: float | None = None
) -> tuple[int, ...] | None:
    """The split with the shortest longest stage by times that were measured; ranked, and None, as in
    `best_partition`."""
    weights = _Weights(roofline, len(costs.layers))

    def run(stage: int, start: int, end: int) -> Run:
        return weights.run(stage, start, end, costs.time_of(stage, end - start))

    return best_dealt(sum(costs.layers), len(costs.layers), run, *_bytes(weight_limit_gib, budget_gib))


def _bytes(weight_limit_gib: float | None, budget_gib: float | None) -> tuple[float, float | None]:
    limit = float("inf") if weight_limit_gib is None else weight_limit_gib * 2**30
    return limit, None if budget_gib is None else budget_gib * 2**30


class _Weights:
    """Weights and KV of runs of layers on a card, by prefix sums."""

    def __init__(self, roofline: Roofline, stages: int) -> None:
        model = roofline.architecture
        self._last = stages - 1
        self._bytes = [0.0, *accumulate(model.layer_bytes(layer) / roofline.tp for layer in model.layers)]
        self._kv = [0.0, *accumulate(layer.kv_values * roofline.kv_bytes for layer in model.layers)]
        self._head_bytes = model.part_bytes(Part.LM_HEAD, model.lm_head) / roofline.tp
        self._table_bytes = model.part_bytes(Part.EMBEDDING, model.embedding) / roofline.tp

    def run(self, stage: int, start: int, end: int, time: float) -> Run:
        """Layers `start` to `end` as a stage that takes `time`."""
        ends = (self._table_bytes if stage == 0 else 0.0) + (self._head_bytes if stage == self._last else 0.0)
        return Run(time, self._bytes[end] - self._bytes[start] + ends, self._kv[end] - self._kv[start])


class _Costs:
    """Times of runs of layers, by prefix sums, beside their weights."""

    def __init__(self, roofline: Roofline, stages: int, batch: float, per_layer_ms: float) -> None:
        layers = roofline.architecture.layers
        self._ms = [0.0, *accumulate(roofline.layer_ms(layer, batch) + per_layer_ms for layer in layers)]
        self._head_ms = roofline.head_ms()
        self._last = stages - 1
        self._weights = _Weights(roofline, stages)

    def run(self, stage: int, start: int, end: int) -> Run:
        ms = self._ms[end] - self._ms[start] + (self._head_ms if stage == self._last else 0.0)
        return self._weights.run(stage, start, end, ms)
