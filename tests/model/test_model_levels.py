import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import LAB_ASYNC, lab

from ppagent.model.levels import level_from_throughput, levels_from_bench


def test_inter_token_latency_is_the_turn_where_there_is_one() -> None:
    levels = lab(LAB_ASYNC)
    assert [level.turn_ms for level in levels] == [388.47, 541.22, 805.57]
    assert {level.measure for level in levels} == {"itl"}


def test_throughput_alone_gives_a_turn() -> None:
    level = level_from_throughput(8, 95.6)
    assert level.turn_ms == pytest.approx(83.68, abs=0.01)
    assert level.measure == "throughput"


def test_tokens_that_arrive_in_bundles_make_tpot_the_turn() -> None:
    (level,) = levels_from_bench([{"max_concurrency": 4, "mean_itl_ms": 200.0, "mean_tpot_ms": 50.0}])
    assert (level.turn_ms, level.measure) == (50.0, "tpot")


def test_rows_are_sorted_and_the_last_of_one_concurrency_counts() -> None:
    rows = [{"max_concurrency": at, "mean_itl_ms": ms} for at, ms in ((8, 90.0), (1, 40.0), (8, 80.0))]
    assert [(level.concurrency, level.turn_ms) for level in levels_from_bench(rows)] == [(1, 40.0), (8, 80.0)]


fields = st.sampled_from(["max_concurrency", "output_throughput", "mean_itl_ms", "mean_tpot_ms", "concurrency"])
values = st.one_of(
    st.none(), st.booleans(), st.text(), st.integers(-5, 500), st.floats(allow_nan=True), st.lists(st.none())
)


@given(st.lists(st.dictionaries(fields, values), max_size=5))
def test_any_row_gives_a_level_with_a_turn_or_none(rows: list[dict[str, object]]) -> None:
    assert all(level.turn_ms > 0 and level.concurrency >= 1 for level in levels_from_bench(rows))


@pytest.mark.parametrize("odd", [float("inf"), float("nan"), 10**400, 1e308, 1e-320, -1, 0, True, "8", None])
def test_a_figure_that_nothing_measures_makes_no_level(odd: object) -> None:
    assert levels_from_bench([{"max_concurrency": odd, "output_throughput": 95.6}]) == ()
    assert levels_from_bench([{"max_concurrency": 8, "output_throughput": odd}]) == ()
    (level,) = levels_from_bench([{"max_concurrency": 8, "output_throughput": 95.6, "mean_itl_ms": odd}])
    assert level.turn_ms == pytest.approx(83.68, abs=0.01)
