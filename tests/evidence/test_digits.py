import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.digits import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), (" 41 ", 41), ("007", 7), ("9" * 15, 10**15 - 1)])
def test_plain_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "1.0", "1_0", "\u00b2", "\u0663", "9" * 16, "9" * 5000, "1 2", "x", "0x1"]
)
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None


@given(st.text(max_size=30))
def test_no_text_fails(text: str) -> None:
    assert whole_number(text) is None or int(text) == whole_number(text)
