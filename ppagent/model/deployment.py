"""A measured deployment: its levels, its stages, and how a turn may divide over them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.levels import Level
from ppagent.model.roofline import Roofline
from ppagent.model.slots import admitted, filled_slots, line_at_fill, served, served_levels
from ppagent.model.stage_costs import StageCosts

Shares = tuple[float, ...]


@dataclass(frozen=True)
class Deployment:
    """A measured ring. `fill` is the range of slots filled now; `shares` are views of how a turn divides over stages.

    Several views are given where it is not known what a stage waits for: its CPU (layers alone count) or its device
    (the LM head counts too). `slot_limit` is the effective limit now, None where it leaves requests alone.
    `shared_host` is True where all stages compute on the same few CPU cores (`--device cpu`): filling then costs more
    than any stage shows alone. `roofline` bounds how a turn grows where the levels do not show it. `measured` are the
    stages' own times where somebody took them: `shares` then holds theirs and no other view.
    """

    levels: tuple[Level, ...]
    stages: int
    slots: int
    fill: tuple[float, float]
    shares: tuple[Shares, ...]
    slot_limit: int | None = None
    shared_host: bool = False
    roofline: Roofline | None = None
    measured: StageCosts | None = None

    def running(self, concurrency: int) -> int:
        """Requests that the limit in force lets run; the others wait for a slot."""
        return admitted(concurrency, self.slots, self.slot_limit)

    @property
    def served(self) -> tuple[Level, ...]:
        """The levels by the requests that ran in them."""
        return served_levels(self.levels, self.slots, self.slot_limit)

    def baseline(self, concurrency: int) -> float:
        """Throughput now: as measured at that level or at one that lets as many run, else from the line."""
        for level in self.levels:
            if level.concurrency == concurrency and level.tokens_per_s is not None:
                return level.tokens_per_s
        running = self.running(concurrency)
        for level in reversed(self.levels):
            queued = self.running(level.concurrency) < level.concurrency
            if queued and running < concurrency and level.tokens_per_s is not None:
                return level.tokens_per_s
        return 1000.0 * running / self.turn_now_ms(concurrency)

    def turn_now_ms(self, concurrency: int) -> float:
        """Ring turn now: as measured with as many requests running, else from the line under the lowest fill."""
        running = self.running(concurrency)
        measured = [level for level in self.levels if level.concurrency == concurrency]
        for level in (*measured, *self.served):
            if self.running(level.concurrency) == running:
                return served(level, self.slots, self.slot_limit).turn_ms
        line = line_at_fill(self.levels, self.fill[0], self.slots, self.slot_limit)
        if line is None:
            return self.served[0].turn_ms
        return line.turn_ms(running / self.filled(concurrency, self.fill[0]))

    def filled(self, concurrency: int, fill: float) -> float:
        """Slots that `concurrency` requests fill now if they fill up to `fill` by themselves."""
        return filled_slots(self.running(concurrency), fill, self.slots, self.slot_limit)


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
