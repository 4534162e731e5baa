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
    caveats: tuple[str, ...] = ()

    @property
    def duty(self) -> float:
        """Measured throughput over what the turn alone would give: what prefill, think time and ramps leave of it."""
        if self.tokens_per_s is None:
            return 1.0
        return min(1.0, self.tokens_per_s * self.turn_ms / (1000.0 * self.concurrency))


def level_from_throughput(concurrency: int, tokens_per_s: float) -> Level:
    """A level of which only tokens a second are known."""
    caveat = "turn from throughput: prefill, think time and ramp are in it"
    return Level(concurrency, 1000.0 * concurrency / tokens_per_s, "throughput", tokens_per_s, (caveat,))


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
    turn_ms, measure = itl_ms, "itl"
    if itl_ms is None or (tpot_ms is not None and itl_ms > _BUNDLED * tpot_ms):
        turn_ms, measure = tpot_ms, "tpot"
    if turn_ms is None:
        return None if tokens_per_s is None else level_from_throughput(round(concurrency), tokens_per_s)
    caveats = tuple(_caveats(row))
    chosen: Measure = "itl" if measure == "itl" else "tpot"
    return Level(round(concurrency), turn_ms, chosen, tokens_per_s, caveats)


def _caveats(row: Mapping[str, object]) -> Iterable[str]:
    asked, achieved = _positive(row.get("max_concurrency")), _positive(row.get("concurrency"))
    if asked and achieved and achieved < 0.9 * asked:
        yield f"mean concurrency was {achieved:.1f} of {asked:.0f}: the client or the rate held back"
    think_s = _positive(row.get("think_time_s"))
    if think_s:
        yield f"clients paused {think_s:g} s between requests, so fewer than {asked:.0f} were in flight"
    accepted = _positive(row.get("accept_length"))
    if accepted and accepted > 1.05:
        yield f"speculation accepts {accepted:.1f} tokens a step: a turn gives more than one token"


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if LEAST < value < MOST else None
