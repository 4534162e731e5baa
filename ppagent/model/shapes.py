"""Other shapes of the same cards, TP ranks by PP stages: what decode would give, scaled from one public report.

The report is the one of `other_axis`: TP8 over PCIe with peer-to-peer, decode graphs on. What it took beyond reading
the bytes may stay as it is for each layer, or go in proportion with the time at peak bandwidth. Both readings are in
every range; at the report's own shape they meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ppagent.model.other_axis import ALL_REDUCE_MS, REACHED
from ppagent.model.ring import turn_of
from ppagent.model.roofline import Roofline

BEYOND_BYTES_MS = (0.125, 0.144)
"""A layer of that report beyond its bytes, all-reduces included: 9.9 to 11.1 ms a token less 2.3 ms for 33 GB on eight
cards, over 61 layers."""

ALL_REDUCES_A_LAYER = 2

MOST_REQUESTS = 32
"""Above it compute and prompts count, which this leaves out."""

Rates = tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """One shape. `alone` and `loaded` are tok/s, low and high, of one request and of the load asked for, dealt evenly
    over the slots. No setting passes `alone_most`. `kv_tokens` None: not known."""

    tp: int
    stages: int
    alone: Rates
    alone_most: float
    loaded: Rates | None
    kv_tokens: int | None = None

    @property
    def name(self) -> str:
        return f"TP{self.tp}xPP{self.stages}" if self.stages > 1 else f"TP{self.tp}"


def shape(roofline: Roofline, tp: int, split: Sequence[int], requests: int, kv_tokens: int | None = None) -> Shape:
    """The model of `roofline` in stages of `split` layers, each on `tp` cards that PCIe joins."""
    here = replace(roofline, tp=tp)
    loaded = rates(here, split, requests) if requests <= MOST_REQUESTS else None
    return Shape(tp, len(split), rates(here, split, 1), 1000.0 / here.ring_ms(1), loaded, kv_tokens)


def rates(roofline: Roofline, split: Sequence[int], requests: int) -> Rates:
    """tok/s of `requests`, low and high, dealt evenly over the slots."""
    filled = min(requests, len(split))
    least_ms = roofline.stage_ms(split, requests / filled)
    turns_ms = [turn_of(times, filled) for times in _readings(least_ms, split, roofline.tp)]
    return 1000.0 * requests / max(turns_ms), 1000.0 * requests / min(turns_ms)


def _readings(least_ms: Sequence[float], split: Sequence[int], tp: int) -> list[list[float]]:
    """Stage times by each reading and end of the report; one card a stage has no all-reduce."""
    reduce_ms = ALL_REDUCES_A_LAYER * ALL_REDUCE_MS
    less_ms = reduce_ms if tp == 1 else 0.0
    stays = [[ms + (each - less_ms) * n for ms, n in zip(least_ms, split, strict=True)] for each in BEYOND_BYTES_MS]
    paid_ms = reduce_ms - less_ms
    goes = [[(ms + paid_ms * n) / share for ms, n in zip(least_ms, split, strict=True)] for share in REACHED]
    return stays + goes
