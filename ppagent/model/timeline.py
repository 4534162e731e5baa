"""Which stage works on which micro-batch, over time: a ring in steady decode, as numbers and as characters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ppagent.model.ring import Ring

_NAMES = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Pass:
    """One stage at work on one slot's micro-batch."""

    stage: int
    slot: int
    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class Timeline:
    """A ring in steady decode: `filled` slots of together `requests` requests, each back at a stage every `turn_ms`.

    A pass reaches stage k `start_ms[k]` after it entered stage 0 and takes it for `pass_ms[k]`. Slots are taken as
    neighbours, as SGLang fills them, and enter stage 0 `apart_ms` apart: one slowest stage.
    """

    start_ms: tuple[float, ...]
    pass_ms: tuple[float, ...]
    turn_ms: float
    filled: int
    requests: int
    apart_ms: float

    @property
    def tokens_per_s(self) -> float:
        """Each request gains one token a turn."""
        return 1000.0 * self.requests / self.turn_ms

    @property
    def busy(self) -> tuple[float, ...]:
        """Share of time, 0 to 1, for which each stage is taken."""
        return tuple(min(1.0, self.filled * taken_ms / self.turn_ms) for taken_ms in self.pass_ms)

    def passes(self, span_ms: float) -> Iterator[Pass]:
        """Every pass within the first `span_ms`, stage by stage, those that began before it or end after it cut."""
        for stage, (offset_ms, taken_ms) in enumerate(zip(self.start_ms, self.pass_ms, strict=True)):
            for slot in range(self.filled):
                start_ms = (offset_ms + slot * self.apart_ms) % self.turn_ms - self.turn_ms
                while start_ms < span_ms:
                    if start_ms + taken_ms > 0 and taken_ms > 0:
                        yield Pass(stage, slot, max(start_ms, 0.0), min(start_ms + taken_ms, span_ms))
                    start_ms += self.turn_ms


def timeline_of(ring: Ring, filled: int, requests: int) -> Timeline:
    """The timeline of a ring whose stage times are known; blocks are device time."""
    batch = requests / filled
    taken_ms = [ring.occupancy_ms(stage, batch) + ring.hop_ms for stage in ring.stages]
    return Timeline(
        start_ms=(0.0, *accumulate(taken_ms[:-1])),
        pass_ms=tuple(stage.device_ms(batch) for stage in ring.stages),
        turn_ms=ring.turn_ms(filled, requests),
        filled=filled,
        requests=requests,
        apart_ms=ring.slowest_ms(batch),
    )


def timeline_at(shares: Sequence[float], turn_ms: float, filled: int, requests: int) -> Timeline:
    """The timeline of a turn that is known, measured or forecast, and divides over the stages by `shares`.

    Launches and hops are inside the blocks, since a measured turn does not show them apart. Where the slowest stage
    has to serve so many slots that it paces the ring, blocks are as long as that allows.
    """
    paced = max(1.0, filled * max(shares) / sum(shares))
    pass_ms = tuple(share / sum(shares) * turn_ms / paced for share in shares)
    return Timeline((0.0, *accumulate(pass_ms[:-1])), pass_ms, turn_ms, filled, requests, max(pass_ms))


def draw_timeline(timeline: Timeline, span_ms: float, columns: int = 80) -> list[str]:
    """One line a stage over `span_ms`: the slot that takes it, a dot where it waits, and its busy share."""
    width = columns - len("stage 10 || 100%")
    cells = [["."] * width for _ in timeline.pass_ms]
    for each in timeline.passes(span_ms):
        first, last = (round(at_ms / span_ms * width) for at_ms in (each.start_ms, each.end_ms))
        for column in range(first, min(max(last, first + 1), width)):
            cells[each.stage][column] = _NAMES[each.slot % len(_NAMES)]
    rows = zip(cells, timeline.busy, strict=True)
    return [f"stage {stage:<2} |{''.join(row)}| {busy:4.0%}" for stage, (row, busy) in enumerate(rows)]
