import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.trials.student import t_quantile


@pytest.mark.parametrize(
    ("confidence", "df", "t"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 3, 3.1824),
        (0.99, 5, 4.0321),
        (0.95, 10, 2.2281),
        (0.9, 120, 1.6577),
    ],
)
def test_quantiles_are_those_of_the_tables(confidence: float, df: int, t: float) -> None:
    assert t_quantile(confidence, df) == pytest.approx(t, abs=1e-4)


@given(st.floats(0.5, 0.999), st.integers(1, 200))
def test_more_confidence_needs_more_room_and_more_measurements_less(confidence: float, df: int) -> None:
    assert t_quantile(confidence, df + 1) < t_quantile(confidence, df) < t_quantile(confidence + 0.0005, df)


@pytest.mark.parametrize(("confidence", "df"), [(1.0, 3), (0.0, 3), (0.95, 0)])
def test_what_has_no_quantile_is_refused(confidence: float, df: int) -> None:
    with pytest.raises(ValueError, match="confidence"):
        t_quantile(confidence, df)
