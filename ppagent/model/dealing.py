"""Runs of layers dealt out to stages: the fastest way, and of ways as fast the one that leaves most memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

SAME_TIME = 1e-3
"""Longest stages that differ by less than this share count as one: nobody could measure it."""
_SAME_BYTES = 1e-9
"""Above what adding floats in another order makes of a sum."""
_SPREAD_STEPS = 2**20
"""Steps in which a stage's time is counted when spreads are compared, the longest being all of them."""


@dataclass(frozen=True)
class Run:
    """Layers one after the other as a stage: its time in any unit, weights and KV of a token on a card in bytes."""

    time: float
    weight_bytes: float
    kv_bytes: float = 0.0


Cost = Callable[[int, int, int], Run]
"""Of the layers from the second number up to the third, as the stage of the first."""
_Bounds = tuple[float, float, float]
_NONE = float("inf")


def best_dealt(
    layers: int, stages: int, cost: Cost, limit_bytes: float = _NONE, budget_bytes: float | None = None
) -> tuple[int, ...] | None:
    """Layers of each stage, one or more; None where no way keeps every card's weights within `limit_bytes`.

    Ways are ranked by the longest stage; then by the tokens that KV is left for where weights and KV of a card may take
    `budget_bytes` together (every stage has those that the fullest card and the widest stage allow); then by the
    heaviest card; then by the sum of the squares of the stages' times; of those still equal the layers go to the first
    stages. Each rank is looked for among the ways that all before it leave: the best beginning of one rank need not be
    that of two.
    """
    runs = _Runs(layers, stages, cost)
    time = runs.least_of_the_most("time", (_NONE, limit_bytes, _NONE))
    if time is None:
        return None
    longest = time * (1 + SAME_TIME)
    runs.keep((longest, limit_bytes, _NONE))
    widest = _NONE if budget_bytes is None else _widest(runs, budget_bytes)
    heaviest = _slack(runs.least_of_the_most("weight_bytes", (longest, limit_bytes, widest)))
    widest = min(widest, _slack(runs.least_of_the_most("kv_bytes", (longest, heaviest, widest))))
    return runs.most_even((longest, heaviest, widest))


def _widest(runs: "_Runs", budget_bytes: float) -> float:
    """KV of a token on the fullest card that leaves most tokens; no bound where none leaves any."""
    best, most = _NONE, 0.0
    for kv in runs.kv_bytes:
        weight = runs.least_of_the_most("weight_bytes", (_NONE, _NONE, kv))
        if weight is not None and (budget_bytes - weight) / kv > most * (1 + _SAME_BYTES):
            best, most = kv, (budget_bytes - weight) / kv
    return best


def _slack(value: float | None) -> float:
    if value is None:
        raise AssertionError("a way within the bounds was found before")
    return value * (1 + _SAME_BYTES)


class _Runs:
    """Every run of layers as every stage, cost known."""

    def __init__(self, layers: int, stages: int, cost: Cost) -> None:
        self._layers, self._stages = layers, stages
        self._runs = [
            (stage, start, end, cost(stage, start, end))
            for stage in range(stages)
            for start in (range(stage, layers - stages + stage + 1) if stage else (0,))
            for end in _ends(stage, start, layers, stages)
        ]

    def keep(self, bounds: _Bounds) -> None:
        """Forgets the runs that are out of bounds."""
        self._runs = [entry for entry in self._runs if _within(entry[3], bounds)]

    @property
    def kv_bytes(self) -> list[float]:
        """What the KV of a token takes as one stage or another, from the least on, a little more than each."""
        return [_slack(kv) for kv in sorted({run.kv_bytes for *_, run in self._runs}) if kv > 0]

    def least_of_the_most(self, what: str, bounds: _Bounds) -> float | None:
        """The least that the largest stage's value can be within the bounds; None where no way is within them."""
        best: list[dict[int, float]] = [{0: 0.0}, *({} for _ in range(self._stages))]
        for stage, start, end, run in self._runs:
            before = best[stage].get(start)
            if before is None or not _within(run, bounds):
                continue
            most = max(before, float(getattr(run, what)))
            if most < best[stage + 1].get(end, _NONE):
                best[stage + 1][end] = most
        return best[-1].get(self._layers)

    def most_even(self, bounds: _Bounds) -> tuple[int, ...] | None:
        """The way within the bounds whose times have the least sum of squares, in whole steps, so that equal ones are
        equal in whatever order they are added."""
        best: list[dict[int, tuple[int, tuple[int, ...]]]] = [{0: (0, ())}, *({} for _ in range(self._stages))]
        for stage, start, end, run in self._runs:
            before = best[stage].get(start)
            if before is None or not _within(run, bounds):
                continue
            steps = round(run.time / bounds[0] * _SPREAD_STEPS)
            key = (before[0] + steps * steps, (*before[1], start - end))
            if end not in best[stage + 1] or key < best[stage + 1][end]:
                best[stage + 1][end] = key
        found = best[-1].get(self._layers)
        return None if found is None else tuple(-count for count in found[1])


def _ends(stage: int, start: int, layers: int, stages: int) -> Sequence[int]:
    """Where a run may end, so that each later stage has a layer and the last takes what is left."""
    return (layers,) if stage == stages - 1 else range(start + 1, layers - stages + stage + 2)


def _within(run: Run, bounds: _Bounds) -> bool:
    return run.time <= bounds[0] and run.weight_bytes <= bounds[1] and run.kv_bytes <= bounds[2]
