"""Times as sets: what any covers, what both cover, and that nothing is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.profile import spans as module
from ppagent.profile.spans import Cover, Span, Spans

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=25)


def moments(spans: list[Span]) -> set[int]:
    return {moment for start, end in spans for moment in range(start, end)}


def cover_of(spans: list[Span]) -> Cover:
    found = Spans()
    for span in spans:
        found.add(*span)
    return found.cover()


@given(PAIRS, PAIRS)
def test_they_are_the_sets_of_their_moments(one: list[Span], other: list[Span]) -> None:
    a, b = cover_of(one), cover_of(other)
    assert a.total == len(moments(one))
    assert moments(list(a.joined(b))) == moments(one) | moments(other)
    assert moments(list(a.shared(b))) == moments(one) & moments(other)
    assert moments(list(a.without(b))) == moments(one) - moments(other)
    edges = sorted({5, 10, 11, 40, *(start for start, _ in other)})
    assert list(a.between(edges)) == [len(moments(one) & set(range(x, y))) for x, y in pairwise(edges)]


@given(PAIRS)
def test_what_comes_in_runs_comes_out_by_its_starts(spans: list[Span]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RUN", 3)
        found = Spans()
        for span in spans:
            found.add(*span)
        assert len(found) == len(spans)
        assert list(found) == sorted(spans)


def test_stretches_that_touch_are_one() -> None:
    assert list(Cover([(0, 4), (4, 6), (7, 7), (8, 9)])) == [(0, 6), (8, 9)]
