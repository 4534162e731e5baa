"""A measured deployment: its levels, its stages, and how a turn may divide over them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.levels import Level
from ppagent.model.slots import filled_slots, line_at_fill

Shares = tuple[float, ...]


@dataclass(frozen=True)
class Deployment:
    """A measured ring. `fill` is the range of slots filled now; `shares` are views of how a turn divides over stages.

    Several views are given where it is not known what a stage waits for: its CPU (layers alone count) or its device
    (the LM head counts too). `slot_limit` is the effective limit now, None where it leaves requests alone.
    `shared_host` is True where all stages compute on the same few CPU cores (`--device cpu`): filling then costs more
    than any stage shows alone.
    """

    levels: tuple[Level, ...]
    stages: int
    slots: int
    fill: tuple[float, float]
    shares: tuple[Shares, ...]
    slot_limit: int | None = None
    shared_host: bool = False

    def baseline(self, concurrency: int) -> float:
        """Throughput now: as measured at that level, else from the line."""
        for level in self.levels:
            if level.concurrency == concurrency and level.tokens_per_s is not None:
                return level.tokens_per_s
        return 1000.0 * concurrency / self.turn_now_ms(concurrency)

    def turn_now_ms(self, concurrency: int) -> float:
        """Ring turn now: as measured at that level, else from the line under the lowest fill."""
        for level in self.levels:
            if level.concurrency == concurrency:
                return level.turn_ms
        line = line_at_fill(self.levels, self.fill[0], self.slots, self.slot_limit)
        if line is None:
            return self.levels[0].turn_ms
        return line.turn_ms(concurrency / filled_slots(concurrency, self.fill[0], self.slots, self.slot_limit))


def even_shares(stages: int) -> Shares:
    """Equal stages."""
    return (1.0 / stages,) * stages


def share_views(split: Sequence[int], device_ms: Sequence[float] | None, ring_ms: float) -> tuple[Shares, ...]:
    """How a turn of `ring_ms` may divide over stages of `split` layers with `device_ms` at peak bandwidth.

    By layers alone (the CPU launches each layer alike and hides the head), and with the device time a stage cannot do
    without in front and only the rest by layers.
    """
    layers = sum(split)
    by_layers = tuple(count / layers for count in split)
    if device_ms is None:
        return (by_layers,)
    rest_ms = max(ring_ms - sum(device_ms), 0.0)
    times = [least + rest_ms * count / layers for least, count in zip(device_ms, split, strict=True)]
    return by_layers, tuple(time / sum(times) for time in times)
