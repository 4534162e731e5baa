"""Measured load levels: what a benchmark says about the ring turn at each concurrency."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Measure = Literal["itl", "tpot", "throughput"]

# Above this ratio of ITL to TPOT several tokens arrive in one chunk, so ITL is not the ring turn.
_BUNDLED = 1.3

LEAST, MOST = 1e-9, 1e12
"""Outside of these no concurrency, rate or time was measured, whatever a file says."""


@dataclass(frozen=True)
class Level:
    """One load level. `turn_ms` is the time in which each of `concurrency` requests gains one token.

    It is the inter-token latency where there is one: throughput also holds prefill, think time and ramps, which make
    C/X too long. `tokens_per_s` is the throughput as measured.
    """

    concurrency: int
    turn_ms: float
    measure: Measure
    tokens_per_s: float | None = None


def level_from_throughput(concurrency: int, tokens_per_s: float) -> Level:
    """A level of which only tokens a second are known: prefill, think time and ramp are in its turn."""
    return Level(concurrency, 1000.0 * concurrency / tokens_per_s, "throughput", tokens_per_s)


def levels_from_bench(rows: Iterable[Mapping[str, object]]) -> tuple[Level, ...]:
    """The levels in rows of `bench_serving`'s output fields, by rising concurrency; rows that hold none are left out.

    Of several rows at one concurrency the last is taken.
    """
    levels = {level.concurrency: level for level in map(_level, rows) if level is not None}
    return tuple(levels[concurrency] for concurrency in sorted(levels))


def _level(row: Mapping[str, object]) -> Level | None:
    concurrency = _positive(row.get("max_concurrency"))
    tokens_per_s = _positive(row.get("output_throughput"))
    if concurrency is None or concurrency < 1:
        return None
    itl_ms, tpot_ms = _positive(row.get("mean_itl_ms")), _positive(row.get("mean_tpot_ms"))
    turn_ms = itl_ms
    measure: Measure = "itl"
    if itl_ms is None or (tpot_ms is not None and itl_ms > _BUNDLED * tpot_ms):
        turn_ms, measure = tpot_ms, "tpot"
    if turn_ms is None:
        return None if tokens_per_s is None else level_from_throughput(round(concurrency), tokens_per_s)
    return Level(round(concurrency), turn_ms, measure, tokens_per_s)


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if LEAST < value < MOST else None
