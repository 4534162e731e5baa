"""Which batch lines count. One slot per kind of line and rank; per DP rank the lowest stage and TP rank counts.

A batch line's bytes 20:44 name its rank and kind (` PP3] Decode batch, #runn`), so a slot is found with one look-up.
"""

import re
from collections.abc import Callable

from ppagent.sglang.logs.clock import Clock
from ppagent.sglang.logs.decode_lane import DecodeLane
from ppagent.sglang.logs.prefill_lane import PrefillLane
from ppagent.sglang.logs.prefix import Ranks, parse_line
from ppagent.sglang.logs.summary import RankSeen

MOST_SLOTS = 4096
FEWEST_LINES = 5
_KEY_IS_WHOLE = re.compile(rb"(?: [A-Z_]+\d+)*\] (?:Decode|Prefill) ")
_occupancy = re.compile(rb"fwd occupancy: (\d{1,3}(?:\.\d+)?)%").search


class Slot:
    """Lines of one kind from one rank: the last one, and what takes them (None: only the last is kept)."""

    __slots__ = ("decode", "last", "number", "occupancy_lines", "occupancy_sum", "ranks", "take")

    def __init__(self, ranks: Ranks, decode: bool) -> None:
        self.ranks = ranks
        self.decode = decode
        self.last = b""
        self.number = 0
        self.occupancy_sum = 0.0
        self.occupancy_lines = 0
        self.take: Callable[[bytes, bytes], None] | None = None

    def take_occupancy(self, line: bytes, raw: bytes) -> None:
        """Add up the forward occupancy a line states."""
        match = _occupancy(line)
        if match is not None:
            self.occupancy_sum += float(match[1])
            self.occupancy_lines += 1


class Lanes:
    """All slots of one launch, and the counters of each DP rank."""

    def __init__(self) -> None:
        self.by_key: dict[bytes, Slot] = {}
        self._slots: dict[tuple[Ranks, bool], Slot] = {}
        self._lanes: dict[int | None, tuple[DecodeLane, PrefillLane]] = {}
        self._occupancy = False
        self.half_lines = 0

    def __bool__(self) -> bool:
        return bool(self._slots)

    def slot(self, line: bytes, tags_end: int) -> Slot | None:
        """The slot of a batch line whose key is not known yet; None where there are too many already."""
        decode = line[tags_end + 2 : tags_end + 8] == b"Decode"
        ranks = parse_line(line[: tags_end + 1]).ranks
        slot = self._slots.get((ranks, decode))
        if slot is None:
            if len(self._slots) >= MOST_SLOTS:
                return None
            slot = self._slots[ranks, decode] = Slot(ranks, decode)
            self._choose(ranks)
        key = line[20:44]
        if len(self.by_key) < MOST_SLOTS and _KEY_IS_WHOLE.match(key):
            self.by_key[key] = slot
        if b"fwd occupancy" in line and not self._occupancy:
            self._occupancy = True
            self._assign()
        return slot

    def _choose(self, ranks: Ranks) -> None:
        """Count `ranks` from now on where it comes before the rank that counted for its DP rank until now."""
        lane = self._lanes.get(ranks.dp)
        if lane is None or _order(ranks) < _order(lane[0].ranks):
            if lane is not None:
                self.half_lines += lane[0].half_lines + lane[1].half_lines
            clock = Clock()
            decode = DecodeLane(ranks, clock)
            self._lanes[ranks.dp] = decode, PrefillLane(decode, clock)
        self._assign()

    def _assign(self) -> None:
        for slot in self._slots.values():
            decode, prefill = self._lanes[slot.ranks.dp]
            counts = _order(slot.ranks) == _order(decode.ranks)
            slot.take = self._take(slot, decode, prefill, counts)

    def _take(
        self, slot: Slot, decode: DecodeLane, prefill: PrefillLane, counts: bool
    ) -> Callable[[bytes, bytes], None] | None:
        occupancy = slot.take_occupancy if self._occupancy and slot.decode else None
        if not counts:
            return occupancy
        count = decode.take if slot.decode else prefill.take
        if occupancy is None:
            return count

        def take_both(line: bytes, raw: bytes) -> None:
            occupancy(line, raw)
            count(line, raw)

        return take_both

    @property
    def counters(self) -> list[tuple[DecodeLane, PrefillLane]]:
        """The counters by DP rank, ascending."""
        return [self._lanes[dp] for dp in sorted(self._lanes, key=lambda dp: -1 if dp is None else dp)]

    def last_seen(self) -> tuple[RankSeen, ...]:
        """The last batch line of every rank that printed one."""
        latest: dict[Ranks, Slot] = {}
        for slot in self._slots.values():
            known = latest.get(slot.ranks)
            if slot.last and (known is None or slot.number > known.number):
                latest[slot.ranks] = slot
        found = [RankSeen(ranks, parse_line(slot.last[:96]).at) for ranks, slot in latest.items()]
        return tuple(sorted(found, key=lambda seen: (seen.ranks.dp or 0, *_order(seen.ranks))))

    def last_number(self) -> int:
        """The number of the last batch line in the log; 0 where there is none."""
        return max((slot.number for slot in self._slots.values()), default=0)

    def occupancy_percent(self) -> dict[int, float]:
        """Mean forward occupancy by pipeline stage; nothing where one stage has too few lines for a mean, since stages
        are there to be compared."""
        sums: dict[int, list[float]] = {}
        for slot in self._slots.values():
            if slot.occupancy_lines:
                row = sums.setdefault(slot.ranks.pp or 0, [0.0, 0.0])
                row[0] += slot.occupancy_sum
                row[1] += slot.occupancy_lines
        if min((row[1] for row in sums.values()), default=0) < FEWEST_LINES:
            return {}
        return {pp: row[0] / row[1] for pp, row in sorted(sums.items())}


def _order(ranks: Ranks) -> tuple[int, int]:
    return ranks.pp or 0, ranks.tp or 0
