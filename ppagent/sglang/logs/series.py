"""Bounded statistics of a stream: exact while values are few, coarse but bounded afterwards. Deterministic."""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_DISTINCT = 4096
MOST_KEPT = 4096
_FLUSH_AT = 512


@dataclass(frozen=True, slots=True)
class Spread:
    """How a quantity was distributed. Percentiles are values that occurred (or the coarse step they fell into)."""

    count: int
    mean: float
    low: float
    p50: float
    p95: float
    high: float


class Counts:
    """How often each printed number occurred, keyed by its text, with the first line of each.

    Keys stay text, so a hot loop counts without converting; use `counts[key] += 1` and on KeyError `first(key, line)`.
    Past `MOST_DISTINCT` values they are rounded to an ever coarser step.
    """

    __slots__ = ("_step", "counts", "lines")

    def __init__(self) -> None:
        self.counts: dict[bytes, int] = {}
        self.lines: dict[bytes, bytes] = {}
        self._step = 0

    def first(self, key: bytes, line: bytes) -> None:
        """Count a value that has no entry of its own."""
        if self._step:
            key = self._coarse(key)
        if key in self.counts:
            self.counts[key] += 1
            return
        self.counts[key] = 1
        self.lines[key] = line
        while len(self.counts) > MOST_DISTINCT:
            self._widen()

    def _coarse(self, key: bytes) -> bytes:
        return b"%d" % (round(float(key) / self._step) * self._step)

    def _widen(self) -> None:
        self._step = max(1, self._step * 2)
        old_counts, old_lines = dict(self.counts), dict(self.lines)
        self.counts.clear()
        self.lines.clear()
        for key, count in old_counts.items():
            coarse = self._coarse(key)
            self.counts[coarse] = self.counts.get(coarse, 0) + count
            self.lines.setdefault(coarse, old_lines[key])

    def table(self) -> dict[float, int]:
        """Count by value, ascending."""
        values: dict[float, int] = {}
        for key, count in self.counts.items():
            values[float(key)] = values.get(float(key), 0) + count
        return dict(sorted(values.items()))

    def line_near(self, value: float) -> bytes | None:
        """The first line whose value is nearest to `value`."""
        key = min(self.lines, key=lambda key: abs(float(key) - value), default=None)
        return None if key is None else self.lines[key]

    def highest_line(self) -> bytes | None:
        """The first line with the highest value."""
        key = max(self.lines, key=float, default=None)
        return None if key is None else self.lines[key]

    def first_line(self) -> bytes | None:
        """The first line of all."""
        return next(iter(self.lines.values()), None)


def spread_of(table: Mapping[float, int]) -> Spread | None:
    """The spread of a count by value (ascending); None where it is empty."""
    count = sum(table.values())
    if not count:
        return None
    mean = sum(value * times for value, times in table.items()) / count
    values = list(table)
    return Spread(count, mean, values[0], _at(table, count, 0.5), _at(table, count, 0.95), values[-1])


def _at(table: Mapping[float, int], count: int, share: float) -> float:
    """The smallest value that at least `share` of all do not exceed."""
    seen = 0
    for value, times in table.items():
        seen += times
        if seen >= share * count:
            return value
    return max(table, default=0.0)


def median(values: list[float]) -> float:
    """The middle of `values`, which must not be empty."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Series:
    """Real numbers in order: exact count, mean and extremes; percentiles from evenly spaced ones once they are many."""

    __slots__ = ("_count", "_every", "_high", "_kept", "_low", "_new", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._low, self._high = float("inf"), float("-inf")
        self._sum = 0.0
        self._kept: list[float] = []
        self._every = 1
        self._new: list[float] = []

    def add(self, value: float) -> None:
        """Take the next number."""
        self._new.append(value)
        if len(self._new) >= _FLUSH_AT:
            self._flush()

    def _flush(self) -> None:
        """Account for the values added since the last time, all at once."""
        new, self._new = self._new, []
        if not new:
            return
        self._kept += new[-self._count % self._every :: self._every]
        self._count += len(new)
        self._sum += sum(new)
        self._low, self._high = min(self._low, *new), max(self._high, *new)
        while len(self._kept) >= MOST_KEPT:
            self._kept = self._kept[::2]
            self._every *= 2

    @property
    def mean(self) -> float | None:
        """The mean so far; None where nothing was added."""
        self._flush()
        return self._sum / self._count if self._count else None

    def spread(self) -> Spread | None:
        """The spread so far; None where nothing was added."""
        mean = self.mean
        if mean is None:
            return None
        kept = sorted(self._kept)
        p50, p95 = kept[(len(kept) - 1) // 2], kept[-(-95 * len(kept) // 100) - 1]
        return Spread(self._count, mean, self._low, p50, p95, self._high)
