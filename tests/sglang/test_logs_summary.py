"""Aliasing of the log interval, and the bounded statistics."""

from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.series import MOST_DISTINCT, Counts, Series, median, spread_of
from ppagent.sglang.logs.summary import aliases, slots_shown


@pytest.mark.parametrize(
    ("slots", "same"), [(2, True), (4, True), (5, True), (8, True), (3, False), (7, False), (1, False)]
)
def test_the_default_interval_shows_one_slot_only_where_the_slots_divide_it(slots: int, same: bool) -> None:
    assert aliases(40, slots) is same


def test_a_coprime_interval_shows_every_slot() -> None:
    assert [slots_shown(41, slots) for slots in range(1, 9)] == list(range(1, 9))
    assert slots_shown(40, 8) == 1
    assert slots_shown(40, 6) == 3


@given(st.integers(1, 200), st.integers(1, 32))
def test_the_slots_shown_are_those_that_counting_forwards_meets(interval: int, slots: int) -> None:
    met = {forward % slots for forward in range(interval, interval * slots * 2 + 1, interval)}
    assert slots_shown(interval, slots) == len(met) == slots // gcd(interval, slots)
    assert aliases(interval, slots) == (slots > 1 and len(met) == 1)


def _counted(values: list[int]) -> Counts:
    counts = Counts()
    for value in values:
        key = b"%d" % value
        try:
            counts.counts[key] += 1
        except KeyError:
            counts.first(key, b"line %d" % value)
    return counts


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=200))
def test_counts_of_few_values_are_exact(values: list[int]) -> None:
    counts = _counted(values)
    spread = spread_of(counts.table())
    ordered = sorted(values)
    assert spread is not None
    assert spread.p50 == ordered[(len(ordered) - 1) // 2]
    assert (spread.low, spread.high, spread.count) == (ordered[0], ordered[-1], len(ordered))
    assert counts.highest_line() == b"line %d" % ordered[-1]


def test_counts_of_many_values_stay_bounded_and_close() -> None:
    values = list(range(0, 300_000, 3))
    counts = _counted(values)
    assert len(counts.counts) <= MOST_DISTINCT
    spread = spread_of(counts.table())
    assert spread is not None
    assert spread.count == len(values)
    assert spread.p50 == pytest.approx(150_000, rel=0.01)
    assert spread.mean == pytest.approx(149_998.5, rel=0.01)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=100))
def test_a_short_series_is_exact(values: list[float]) -> None:
    series = Series()
    for value in values:
        series.add(value)
    spread = series.spread()
    assert spread is not None
    assert spread.mean == pytest.approx(sum(values) / len(values), abs=1e-6)
    assert (spread.low, spread.high, spread.p50) == (min(values), max(values), sorted(values)[(len(values) - 1) // 2])


def test_a_long_series_keeps_few_values_and_still_knows_its_middle() -> None:
    series = Series()
    for value in range(200_000):
        series.add(float(value % 10_000))
    spread = series.spread()
    assert spread is not None
    assert (spread.count, spread.low, spread.high) == (200_000, 0.0, 9999.0)
    assert spread.mean == pytest.approx(4999.5)
    assert spread.p50 == pytest.approx(5000, rel=0.05)
    assert spread.p95 == pytest.approx(9500, rel=0.03)


def test_nothing_has_no_spread() -> None:
    assert spread_of({}) is None
    assert Series().spread() is None
    assert Series().mean is None


def test_the_median_of_an_even_number_lies_between_the_middle_two() -> None:
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    assert median([5.0, 1.0, 3.0]) == 3.0
