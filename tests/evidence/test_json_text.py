import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.json_text import read_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(-1e18, 1e18) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_ordinary_json_comes_back_as_it_is(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "-Infinity", "9" * 400, "-" + "9" * 5000, "1e400", "1e300"])
def test_a_number_that_nothing_measures_is_null(odd: str) -> None:
    assert read_json(f'{{"a": [{odd}, 1]}}') == {"a": [None, 1]}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 100_000, "nul", "12 34", "\x00"])
def test_what_is_no_json_is_said_and_ends_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
