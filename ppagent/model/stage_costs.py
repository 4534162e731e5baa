"""What each stage takes as it was measured, and what it would take with other layers."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class StageCosts:
    """Measured `times` of stages that hold `layers`, in one unit whichever: only their ratios count.

    A stage's time goes with its layers, at its own pace: a slow card is slow for every layer. `head_share` is the part
    of the last stage's time that stays there whatever its layers are (the LM head), 0 where it is not known.
    `source` says where the times are from.
    """

    layers: tuple[int, ...]
    times: tuple[float, ...]
    head_share: float = 0.0
    source: str = "measured"

    def __post_init__(self) -> None:
        if len(self.layers) != len(self.times) or not self.layers:
            raise ValueError(f"{len(self.times)} times do not fit {len(self.layers)} stages")
        if min(self.layers) < 1 or min(self.times) <= 0 or not 0 <= self.head_share < 1:
            raise ValueError("each stage needs a layer and a time, and the head a share below 1")

    def times_of(self, split: Sequence[int]) -> tuple[float, ...]:
        """The times with `split` layers a stage. Raises ValueError for another number of stages or layers."""
        if len(split) != len(self.layers) or sum(split) != sum(self.layers):
            raise ValueError(f"a split of {sum(split)} layers over {len(split)} stages is of another pipeline")
        return tuple(self.time_of(stage, count) for stage, count in enumerate(split))

    def shares_of(self, split: Sequence[int]) -> tuple[float, ...]:
        """The part of a turn of now that each stage takes with `split` layers a stage: they add up to less than 1 where
        layers leave a slow card."""
        return tuple(time / sum(self.times) for time in self.times_of(split))

    def best_split(self) -> tuple[int, ...]:
        """The split with the shortest longest stage, where what the cards hold is not known (`best_by_times` where it
        is).

        Layers are dealt out one by one, each to the stage that is shortest with it: the longest stage then cannot be
        shortened by giving any of its layers away. Of equal stages those go first that hold more now.
        """
        split = [1] * len(self.layers)
        for _ in range(sum(self.layers) - len(self.layers)):
            split[min(range(len(split)), key=lambda stage: self._rank(stage, split[stage] + 1))] += 1
        return tuple(split)

    def time_of(self, stage: int, count: int) -> float:
        """The time of one stage with `count` layers."""
        fixed = self.head_share if stage == len(self.layers) - 1 else 0.0
        return self.times[stage] * (fixed + (1.0 - fixed) * count / self.layers[stage])

    def _rank(self, stage: int, count: int) -> tuple[float, int, int]:
        return round(self.time_of(stage, count), 9), count - self.layers[stage], stage
