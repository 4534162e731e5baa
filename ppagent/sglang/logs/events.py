"""Trouble lines of one launch, kept in bounded number and counted without the copies other ranks print."""

from collections import deque
from collections.abc import Callable

from ppagent.sglang.logs.prefix import NO_RANKS, LogLine, Ranks
from ppagent.sglang.logs.summary import Event, Tally
from ppagent.sglang.logs.trouble import Trouble, TroubleKind, trouble_kinds

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
    def __init__(self, kind: TroubleKind, before: float | None) -> None:
        self.kind = kind
        self.before = before
        self.lines = 0
        self.first: list[Event] = []
        self.last: deque[Event] = deque(maxlen=KEPT_EACH_END)
        self.by_rank: dict[Ranks, list[float]] = {}

    def add(self, event: Event) -> None:
        self.lines += 1
        if len(self.first) < KEPT_EACH_END:
            self.first.append(event)
        else:
            self.last.append(event)
        if event.ranks in self.by_rank or len(self.by_rank) < _MOST_RANKS:
            row = self.by_rank.setdefault(event.ranks, [0.0, 0.0])
            row[0] += 1
            row[1] += _number(event.fields.get(self.kind.counted, ""))

    def tally(self) -> Tally:
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
            tokens_per_s_before=self.before,
        )


class TroubleLog:
    """Adds events up by kind. `throughput` gives the median of the last decode lines when a kind first shows."""

    def __init__(self, throughput: Callable[[], float | None]) -> None:
        self._throughput = throughput
        self._by_kind: dict[str, _KindLog] = {}

    def add(self, event: Event) -> None:
        """Count one event."""
        log = self._by_kind.get(event.kind.id)
        if log is None:
            log = self._by_kind[event.kind.id] = _KindLog(event.kind, self._throughput())
        log.add(event)

    def tallies(self) -> dict[str, Tally]:
        """All kinds seen, by id."""
        return {name: log.tally() for name, log in self._by_kind.items()}


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
