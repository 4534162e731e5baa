import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.marks import any_of
from ppagent.sglang.logs.trouble import trouble_kinds

few = st.binary(min_size=1, max_size=4).map(lambda text: bytes(b"ab.\n"[byte % 4] for byte in text))


@given(st.lists(few, min_size=1, max_size=8), st.binary(max_size=20).map(lambda t: bytes(b"ab.\n"[b % 4] for b in t)))
def test_one_pass_finds_a_mark_exactly_where_looking_for_each_of_them_does(marks: list[bytes], line: bytes) -> None:
    assert (any_of(marks)(line) is not None) == any(mark in line for mark in marks)


def test_every_mark_of_a_trouble_is_found_in_the_middle_of_a_line() -> None:
    marks = [mark for kind in trouble_kinds() for mark in kind.marks]
    find = any_of(marks)
    assert all(find(b"before " + mark + b" after") is not None for mark in marks)
    assert find(b"[2026-05-02 10:00:00 PP0 TP0] a remark about nothing") is None


def test_an_empty_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="empty mark"):
        any_of([b"a", b""])
