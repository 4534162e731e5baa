"""Trouble lines of one launch, kept in bounded number and counted without the copies other ranks print."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ppagent.sglang.logs.decode_lane import DecodeLane
from ppagent.sglang.logs.prefix import NO_RANKS, LogLine, Ranks
from ppagent.sglang.logs.summary import Event, Level, Tally
from ppagent.sglang.logs.trouble import Trouble, TroubleKind, trouble_kinds

Decodes: TypeAlias = Sequence[DecodeLane]

KEPT_EACH_END = 20
_RAW_LIMIT = 2000
_MOST_RANKS = 4096


class TroubleScanner:
    """Tells cheaply which kinds a line may be: only their patterns need to be tried."""

    def __init__(self) -> None:
        self._marks = [(mark, kind) for kind in trouble_kinds() for mark in kind.marks]

    def marked(self, line: bytes) -> list[TroubleKind]:
        """The kinds of which a mark stands in `line`: usually none."""
        return [kind for mark, kind in self._marks if mark in line]


class _KindLog:
    def __init__(self, kind: TroubleKind, decodes: Decodes) -> None:
        self.kind = kind
        self.before = level(decodes)
        self.decode_lines: dict[int | None, int] = {}
        self.lines = 0
        self.first: list[Event] = []
        self.last: deque[Event] = deque(maxlen=KEPT_EACH_END)
        self.by_rank: dict[Ranks, list[float]] = {}

    def add(self, event: Event, decodes: Decodes) -> None:
        """Count one event and note how many decode lines there are by now."""
        self.lines += 1
        self.decode_lines = {decode.ranks.dp: decode.lines for decode in decodes}
        if len(self.first) < KEPT_EACH_END:
            self.first.append(event)
        else:
            self.last.append(event)
        if event.ranks in self.by_rank or len(self.by_rank) < _MOST_RANKS:
            row = self.by_rank.setdefault(event.ranks, [0.0, 0.0])
            row[0] += 1
            row[1] += _number(event.fields.get(self.kind.counted, ""))

    def tally(self, decodes: Decodes) -> Tally:
        """What the events amount to."""
        by_pp: dict[int | None, int] = {}
        for ranks, row in self.by_rank.items():
            by_pp[ranks.pp] = by_pp.get(ranks.pp, 0) + int(row[0])
        counted = [self.by_rank[ranks] for ranks in _one_copy(list(self.by_rank))]
        return Tally(
            kind=self.kind,
            lines=self.lines,
            once=int(sum(row[0] for row in counted)),
            summed=sum(row[1] for row in counted),
            by_pp=by_pp,
            first=tuple(self.first),
            last=tuple(self.last),
            before=self.before,
            after=level(decodes, self.decode_lines),
        )


class TroubleLog:
    """Adds events up by kind. `decodes` gives the counters of the DP ranks, for the level before and after."""

    def __init__(self, decodes: Callable[[], Decodes]) -> None:
        self._decodes = decodes
        self._by_kind: dict[str, _KindLog] = {}

    def add(self, event: Event) -> None:
        """Count one event."""
        decodes = self._decodes()
        log = self._by_kind.get(event.kind.id)
        if log is None:
            log = self._by_kind[event.kind.id] = _KindLog(event.kind, decodes)
        log.add(event, decodes)

    def tallies(self) -> dict[str, Tally]:
        """All kinds seen, by id."""
        return {name: log.tally(self._decodes()) for name, log in self._by_kind.items()}


def level(decodes: Decodes, since: Mapping[int | None, int] | None = None) -> Level | None:
    """The level of the last decode lines over all DP ranks; `since` gives the line count to begin after."""
    counts = since or {}
    found = [decode.recent(counts.get(decode.ranks.dp, 0)) for decode in decodes]
    levels = [each for each in found if each is not None]
    if not levels:
        return None
    return Level(sum(each.tokens_per_s for each in levels), sum(each.running for each in levels) / len(levels))


def event_of(trouble: Trouble, line: LogLine, ranks: Ranks, number: int) -> Event:
    """The event a line is. `ranks` is who said it, which for free text is whoever spoke last."""
    return Event(trouble.kind, line.at, ranks, trouble.fields, line.raw[:_RAW_LIMIT], number)


def _one_copy(ranks: list[Ranks]) -> list[Ranks]:
    """One rank for each DP rank (the lowest stage and TP rank), and the launcher's own lines."""
    chosen: dict[int | None, Ranks] = {}
    for each in ranks:
        if each == NO_RANKS:
            continue
        known = chosen.get(each.dp)
        if known is None or (each.pp or 0, each.tp or 0) < (known.pp or 0, known.tp or 0):
            chosen[each.dp] = each
    return [*chosen.values(), *(each for each in ranks if each == NO_RANKS)]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
