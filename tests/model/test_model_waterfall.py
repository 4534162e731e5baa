import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.model.waterfall import (
    OBSERVED,
    UNEXPLAINED,
    Level,
    build_waterfall,
    draw_waterfall,
    rounded,
    spans,
)

SEED = build_waterfall(435, [Level("PP004", 284), Level("CG001", 190), Level("PP001", 98)], 95.6)


def test_each_step_is_what_its_cause_costs_once_those_before_it_are_paid() -> None:
    assert [(step.step, round(step.value, 1)) for step in SEED] == [
        ("limit", 435),
        ("PP004", -151),
        ("CG001", -94),
        ("PP001", -92),
        (UNEXPLAINED, -2.4),
        (OBSERVED, 95.6),
    ]


def test_bars_hang_from_the_step_before() -> None:
    rows = draw_waterfall(SEED)
    assert len(rows) == 6
    assert rows[0].endswith("|" + "#" * 57 + "|")
    assert rows[1].index("#") > rows[3].index("#")
    assert {len(row) for row in rows} == {80}


def test_a_label_is_never_cut() -> None:
    label = "host and launch gaps with graphs off, and whatever else a cause may be called"
    steps = build_waterfall(200, [Level("CG001", 150, label)], 100)
    rows = draw_waterfall(steps, 76)
    assert " ".join(row.split("|")[0].replace("-50.0", "").strip() for row in rows[1:3]) == label
    assert {len(row) for row in rows} == {76}


def test_bars_lie_between_the_heights_they_lead_from_and_to() -> None:
    expected = ((0, 435), (284, 435), (190, 284), (98, 190), (95.6, 98), (0, 95.6))
    assert all(span == pytest.approx(ends) for span, ends in zip(spans(SEED), expected, strict=True))


heights = st.floats(0, 5000, allow_nan=False)


@given(heights, st.lists(heights, max_size=6), heights)
def test_steps_always_add_up_even_rounded(limit: float, causes: list[float], observed: float) -> None:
    steps = build_waterfall(limit, [Level(f"C{index}", value) for index, value in enumerate(causes)], observed)
    assert sum(step.value for step in steps[:-1]) == pytest.approx(observed, abs=1e-6)
    assert sum(step.value for step in rounded(steps)[:-1]) == pytest.approx(rounded(steps)[-1].value, abs=1e-6)
    assert len(draw_waterfall(steps)) == len(steps)
