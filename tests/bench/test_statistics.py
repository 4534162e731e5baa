import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.statistics import error_share, percentile, spread_ms


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=60))
def test_percentiles_interpolate_as_the_inclusive_method_does(values: list[float]) -> None:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    for percent in (50, 90, 95, 99):
        assert percentile(values, percent) == pytest.approx(cuts[percent - 1], rel=1e-9, abs=1e-9)


def test_a_spread_is_in_milliseconds_under_the_names_of_bench_serving() -> None:
    fields = spread_ms([0.001, 0.002, 0.003]).fields("ttft")
    assert fields["mean_ttft_ms"] == 2.0
    assert fields["median_ttft_ms"] == 2.0
    assert fields["std_ttft_ms"] == pytest.approx(0.816, abs=1e-3)
    assert set(fields) == {f"{name}_ttft_ms" for name in ("mean", "median", "std", "p90", "p95", "p99")}


def test_the_error_of_a_mean_falls_with_the_root_of_how_many_there_are() -> None:
    # By hand: mean 10, standard deviation 2 of four, so 2 / 2 = 1 is a tenth of it.
    assert error_share([8.268, 8.268, 11.732, 11.732]) == pytest.approx(0.1, abs=1e-4)
    assert error_share([5, 5, 5]) == 0
    assert error_share([5, 6]) is None
    assert error_share([0, 0, 0]) is None


def test_nothing_measured_is_zero() -> None:
    assert percentile([], 99) == 0.0
    assert spread_ms([]).count == 0
