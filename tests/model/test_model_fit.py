import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.model.fit import NOISE, fit_line


def test_three_points_on_a_line_give_it_back() -> None:
    line = fit_line([1, 4, 8], [40, 46, 54])
    assert line is not None
    assert (line.base_ms, line.per_request_ms) == pytest.approx((38, 2))
    assert line.worst_residual == pytest.approx(0, abs=1e-12)


def test_a_perfect_fit_is_still_only_as_sure_as_two_runs_agree() -> None:
    line = fit_line([1, 4, 8], [40, 46, 54])
    assert line is not None
    assert line.turn_err_ms(13 / 3) == pytest.approx(NOISE * 140 / 3 / 3**0.5, rel=1e-6)
    assert line.turn_err_ms(30) > 4 * line.turn_err_ms(13 / 3)


def test_scatter_widens_the_error() -> None:
    calm, wild = fit_line([1, 4, 8], [40, 46, 54]), fit_line([1, 4, 8], [40, 60, 54])
    assert calm is not None
    assert wild is not None
    assert wild.per_request_err_ms > 2 * calm.per_request_err_ms


@pytest.mark.parametrize("batches", [[], [4], [4, 4]])
def test_one_batch_size_gives_no_line(batches: list[float]) -> None:
    assert fit_line(batches, [50.0] * len(batches)) is None


@given(st.lists(st.integers(1, 64), min_size=2, max_size=6, unique=True), st.floats(1, 500), st.floats(0, 50))
def test_any_line_is_found_again(batches: list[int], base_ms: float, per_request_ms: float) -> None:
    line = fit_line(batches, [base_ms + per_request_ms * batch for batch in batches])
    assert line is not None
    assert line.turn_ms(3) == pytest.approx(base_ms + 3 * per_request_ms, rel=1e-6)
