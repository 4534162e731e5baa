from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.model.timeline import timeline_at
from ppagent.model.waterfall import Level, Step, build_waterfall, draw_waterfall
from ppagent.report.pictures.curves import Curves, Range, draw_curves, thinned
from ppagent.report.pictures.power import Power, draw_power
from ppagent.report.pictures.svg import NARROW, WIDE, Picture
from ppagent.report.pictures.timeline import Lane, draw_lanes
from ppagent.report.pictures.waterfall import draw_steps

STEPS = build_waterfall(435, [Level("PP004", 284, "uneven stages"), Level("PP001", 98, "unfilled")], 95.6)
LANES = (
    Lane("Now, 1 of 4 slots is filled", "8 tokens every 40 ms", timeline_at((1, 1, 1, 1), 40, 1, 8), True),
    Lane("Proposed, P1: 4 of 4 slots are filled", "forecast", timeline_at((1, 1, 1, 1), 40, 4, 8), False),
)
CURVES = Curves(
    points=((1, 24.7), (8, 95.6)),
    points_name="measured",
    now=((1, 25), (16, 120)),
    band=((1, 22, 27), (8, 162, 198), (16, 162, 198)),
    band_name="P1 (slot limit 1)",
    marks=(Range("P2", 8, 200, 214),),
)
POWER = Power("box", (0, 20, 22), True, {"0": (85, 174, None), "1": (86, 155, 176)}, 600)


def parsed(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(f"<svg>{picture.body}</svg>")


def words(picture: Picture) -> list[str]:
    return [each.text or "" for each in parsed(picture).iter("text")]


def boxes(picture: Picture, css: str) -> list[tuple[float, float]]:
    """Left and right edge of every box of a class."""
    found = [each for each in parsed(picture).iter("rect") if each.get("class") == css]
    return [(float(each.get("x", 0)), float(each.get("x", 0)) + float(each.get("width", 0))) for each in found]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_bars_of_the_waterfall_are_to_scale_and_hang_from_each_other(width: float) -> None:
    picture = draw_steps(STEPS, width)
    (left, right), *_ = boxes(picture, "f-limit")
    per_token = (right - left) / 435
    losses = boxes(picture, "f-loss")
    assert losses[0] == pytest.approx((left + 284 * per_token, right), abs=0.2)
    assert losses[1] == pytest.approx((left + 98 * per_token, losses[0][0]), abs=0.2)
    assert boxes(picture, "f-now")[0][1] == pytest.approx(left + 95.6 * per_token, abs=0.2)
    assert {"ceiling", "PP004 uneven stages", "−151.0", "PP001 unfilled", "−186.0", "observed", "95.6"} <= {
        *words(picture)
    }
    assert "PP004 uneven stages −151.0" in picture.says


def test_a_timeline_shows_every_slot_in_its_colour_and_how_long_stages_are_taken() -> None:
    picture = draw_lanes(LANES, WIDE)
    paths = [each.get("class") for each in parsed(picture).iter("path")]
    assert paths == ["s0", "s0", "s1", "s2", "s3"]
    assert words(picture).count("25%") == 4
    assert words(picture).count("100%") == 4
    assert {LANES[0].name, LANES[0].gives, "one turn 40 ms", "80 ms"} <= {*words(picture)}
    assert LANES[1].name in picture.says


def test_a_narrow_timeline_shows_little_more_than_one_turn() -> None:
    assert "20 ms" in words(draw_lanes(LANES, NARROW))
    assert "60 ms" not in words(draw_lanes(LANES, NARROW))


def test_a_long_pipeline_gets_flatter_rows_and_names_every_fourth_stage() -> None:
    lane = Lane("Now", "", timeline_at((1,) * 32, 320, 32, 32), True)
    picture = draw_lanes((lane,), WIDE)
    assert "stage 4" in words(picture) and "stage 5" not in words(picture)
    assert picture.height < 420
    assert len({each.get("class") for each in parsed(picture).iter("path")}) == 8


def test_points_and_forecasts_lie_where_the_axes_say() -> None:
    picture = draw_curves(CURVES, WIDE)
    root = parsed(picture)
    points = sorted((float(each.get("cx", 0)), float(each.get("cy", 0))) for each in root.iter("circle"))[1:]
    band = next(each for each in root.iter("polygon"))
    corners = [tuple(map(float, pair.split(","))) for pair in band.get("points", "").split()]
    assert points[1][0] == corners[1][0]
    assert corners[4][1] < corners[1][1] < points[1][1]
    assert {"measured", "ring model, as it is", "forecast, P1 (slot limit 1)", "forecast, P2", "P2"} <= {
        *words(picture)
    }
    assert "P2 forecast 200 to 214 at 8" in picture.says


def test_levels_alone_make_a_chart_without_a_forecast() -> None:
    picture = draw_curves(Curves(((1, 24.7),), "as stated"), NARROW)
    assert "as stated" in words(picture)
    assert not list(parsed(picture).iter("polygon"))
    assert "forecast" not in " ".join([*words(picture), picture.says])


def test_figures_that_would_lie_over_each_other_are_not_written() -> None:
    crowded = Curves(((1, 74.7), (2, 205.3), (64, 900)), "measured")
    assert {"205.3", "900"} <= {*words(draw_curves(crowded, NARROW))}
    assert "74.7" not in words(draw_curves(crowded, NARROW))
    assert draw_curves(crowded, NARROW).body.count("<circle") == 4


def test_one_point_alone_is_not_worth_a_chart() -> None:
    assert not Curves(((16, 65),), "measured").worth_drawing
    assert Curves(((16, 65),), "measured", now=((1, 5), (32, 70))).worth_drawing
    assert CURVES.worth_drawing


def test_power_is_drawn_card_by_card_against_the_limit() -> None:
    picture = draw_power(POWER, WIDE)
    lines = [each for each in parsed(picture).iter("polyline") if each.get("class") == "l-thin"]
    assert [len(each.get("points", "").split()) for each in lines] == [2, 3]
    assert "limit 600 W" in words(picture)
    assert picture.says == "Power over time: 2 GPUs, 85 to 176 W of 600 W"


def test_one_moment_is_drawn_as_bars() -> None:
    once = replace(POWER, seconds=(1,), timed=False, watts={"0": (85,), "1": (None,), "7": (170,)})
    picture = draw_power(once, WIDE)
    assert len(boxes(picture, "f-now")) == 2
    assert {"0", "7"} <= {*words(picture)}
    assert "seconds from the first sample" not in words(picture)


def test_without_a_limit_none_is_drawn() -> None:
    picture = draw_power(replace(POWER, limit_w=None), WIDE)
    assert not [word for word in words(picture) if "limit" in word]
    assert picture.says.endswith("85 to 176 W")


rows = st.lists(st.none() | st.floats(0, 1e6), min_size=3, max_size=3).map(tuple)


@given(st.lists(rows, min_size=1, max_size=4), st.none() | st.floats(0.001, 1e6), st.sampled_from([WIDE, NARROW]))
def test_any_power_stays_inside_the_picture(
    watts: list[tuple[float | None, ...]], limit: float | None, width: float
) -> None:
    if not any(value is not None for row in watts for value in row):
        return
    power = Power("", (0, 1, 2), True, {str(index): row for index, row in enumerate(watts)}, limit)
    picture = draw_power(power, width)
    for each in parsed(picture).iter():
        for x, y in (pair.split(",") for pair in each.get("points", "").split()):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= picture.height


@given(st.integers(1, 5000), st.integers(2, 50))
def test_thinned_loads_keep_both_ends(count: int, most: int) -> None:
    loads = list(range(1, count + 1))
    kept = thinned(loads, most)
    assert kept == sorted(set(kept)) and len(kept) <= most
    assert (kept[0], kept[-1]) == (1, count)


def test_a_share_that_is_not_to_blame_goes_without_the_causes_id_and_nothing_is_drawn_for_nothing() -> None:
    steps = (
        Step("limit", 203.2, "ceiling"),
        Step("PP004", -11.1, "uneven stages", blamed=False),
        Step("PP001", 0.0, "unfilled: costs nothing at this load"),
        Step("unexplained", 0.0),
        Step("observed", 192.1),
    )
    picture = draw_steps(steps, WIDE)
    assert "uneven stages −11.1, PP001 unfilled: costs nothing at this load 0.0, unexplained 0.0" in picture.says
    assert "PP004" not in picture.says
    assert picture.body.count("<rect") == 3
    drawn = draw_waterfall(steps, 80)
    assert [line.split("|")[0].split()[-1] for line in drawn] == ["203.2", "-11.1", "0.0", "0.0", "192.1"]
