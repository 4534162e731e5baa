"""Stretches of time, as many as a trace holds, at 16 bytes each: ns from any origin, start before end."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain

Span = tuple[int, int]

RUN = 1 << 16
"""Stretches that are sorted at a time, and again in one pass over these runs."""


class Spans:
    """Stretches in the order in which they come; they may overlap."""

    def __init__(self) -> None:
        self._starts, self._ends = array("q"), array("q")
        self._runs = [0]
        self._pending: list[Span] = []

    def __len__(self) -> int:
        return len(self._starts) + len(self._pending)

    def add(self, start: int, end: int) -> None:
        self._pending.append((start, end))
        if len(self._pending) >= RUN:
            self._settle()

    def __iter__(self) -> Iterator[Span]:
        """By their starts."""
        self._settle()
        bounds = zip(self._runs, self._runs[1:], strict=False)
        return merge(*(self._run(begin, end) for begin, end in bounds))

    def cover(self) -> "Cover":
        """The time that any of them takes."""
        return Cover(self)

    def taken(self) -> "Cover":
        """The same, and nothing is kept here."""
        found = Cover(self)
        self._starts, self._ends, self._runs = array("q"), array("q"), [0]
        return found

    def _run(self, begin: int, end: int) -> Iterator[Span]:
        return ((self._starts[at], self._ends[at]) for at in range(begin, end))

    def _settle(self) -> None:
        if not self._pending:
            return
        self._pending.sort()
        self._starts.extend(start for start, _ in self._pending)
        self._ends.extend(end for _, end in self._pending)
        self._runs.append(len(self._starts))
        self._pending.clear()


class Cover:
    """Stretches in order of time that neither touch nor overlap."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        """`spans` come by their starts; what overlaps or touches becomes one."""
        self._starts, self._ends = array("q"), array("q")
        for start, end in spans:
            if end <= start:
                continue
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __iter__(self) -> Iterator[Span]:
        return zip(self._starts, self._ends, strict=True)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def total(self) -> int:
        """Its length, ns."""
        return sum(self._ends) - sum(self._starts)

    def between(self, edges: Sequence[int]) -> "array[int]":
        """How much of it lies from each edge to the next; edges are in order."""
        found = array("q", bytes(8 * max(0, len(edges) - 1)))
        first = 0
        for start, end in self:
            while first < len(found) and edges[first + 1] <= start:
                first += 1
            at = first
            while at < len(found) and edges[at] < end:
                found[at] += max(0, min(end, edges[at + 1]) - max(start, edges[at]))
                at += 1
        return found

    def joined(self, other: "Cover") -> "Cover":
        """What either covers."""
        return Cover(merge(self, other))

    def shared(self, other: "Cover") -> "Cover":
        """What both cover."""
        return Cover(_shared(iter(self), iter(other)))

    def without(self, other: "Cover") -> "Cover":
        """What this covers and the other does not."""
        return self.shared(other.gaps())

    def gaps(self) -> "Cover":
        """All other time there is, before and after it too."""
        return Cover(zip(chain((FIRST,), self._ends), chain(self._starts, (LAST,)), strict=True))


FIRST, LAST = -(1 << 62), 1 << 62


def _shared(one: Iterator[Span], other: Iterator[Span]) -> Iterator[Span]:
    a, b = next(one, None), next(other, None)
    while a is not None and b is not None:
        begin, end = max(a[0], b[0]), min(a[1], b[1])
        if begin < end:
            yield begin, end
        if a[1] < b[1]:
            a = next(one, None)
        else:
            b = next(other, None)
