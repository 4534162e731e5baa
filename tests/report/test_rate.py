import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.report.rate import rate


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0"), (95.62, "95.6"), (99.96, "100"), (162.4, "162"), (1711.2, "1711"), (2e5, "200000")]
)
def test_a_rate_has_three_digits_and_all_those_before_the_point(value: float, shown: str) -> None:
    assert rate(value) == shown


@given(st.floats(min_value=0.001, max_value=1e9))
def test_a_rate_is_never_a_power_of_ten_and_close_to_its_value(value: float) -> None:
    assert "e" not in rate(value)
    assert float(rate(value)) == pytest.approx(value, rel=0.006)
