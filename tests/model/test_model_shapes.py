import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import DEFAULT_SPLIT, kimi_roofline

from ppagent.model.shapes import MOST_REQUESTS, shape

# The default splits of 61 layers from 0.5.6 on.
SPLITS = {1: DEFAULT_SPLIT, 2: (15, 15, 15, 16), 4: (30, 31), 8: (61,)}


def test_the_shape_of_the_report_gives_what_was_reported() -> None:
    # Kimi K2.5 in INT4, TP8 over eight RTX PRO 6000: 90 to 101 tok/s at one request.
    found = shape(kimi_roofline(), 8, SPLITS[8], 1)
    assert found.name == "TP8"
    assert found.alone == pytest.approx((90, 101), abs=1)


def test_shapes_between_pipeline_and_ranks_are_priced_between_them() -> None:
    shapes = [shape(kimi_roofline(), tp, split, 8) for tp, split in SPLITS.items()]
    assert [each.name for each in shapes] == ["TP1xPP8", "TP2xPP4", "TP4xPP2", "TP8"]
    # By hand for two ranks: 18.4 / 2 = 9.2 ms of bytes and 7.6 to 8.8 ms that the report took beyond its own, so 55 to
    # 60 tok/s; or, in proportion, 9.2 + 122 x 0.024 = 12.1 ms over 0.47 to 0.53, so 39 to 44.
    assert shapes[1].alone == pytest.approx((38.8, 59.5), rel=0.02)
    assert shapes[2].alone == pytest.approx((62.5, 82), rel=0.02)
    assert [round(each.alone_most) for each in shapes] == [54, 109, 217, 435]


def test_one_request_in_the_seeds_own_shape_is_what_graphs_were_forecast_to_give() -> None:
    # 31 to 41 tok/s by another way (a predictor's device times and a millisecond of host a stage): the range holds it.
    low, high = shape(kimi_roofline(), 1, SPLITS[1], 8).alone
    assert low < 31
    assert 41 < high < 54


def test_eight_requests_fill_as_many_slots_as_there_are_and_the_longest_stage_paces_them() -> None:
    shapes = {tp: shape(kimi_roofline(), tp, split, 8).loaded for tp, split in SPLITS.items()}
    # The seed with limit 1, graphs and its default split is forecast 200 to 215 by its own levels.
    own = shapes[1]
    assert own is not None
    assert own[0] < 200 < 215 < own[1]
    lows = [rates[0] for rates in shapes.values() if rates is not None]
    assert lows == sorted(lows)


def test_many_requests_are_not_priced_since_compute_and_prompts_count_then() -> None:
    assert shape(kimi_roofline(), 8, SPLITS[8], MOST_REQUESTS).loaded is not None
    assert shape(kimi_roofline(), 8, SPLITS[8], MOST_REQUESTS + 1).loaded is None


@given(tp=st.sampled_from(sorted(SPLITS)), requests=st.integers(1, MOST_REQUESTS))
def test_no_range_passes_the_bandwidth_of_the_cards(tp: int, requests: int) -> None:
    found = shape(kimi_roofline(), tp, SPLITS[tp], requests)
    assert 0 < found.alone[0] <= found.alone[1] < found.alone_most
    assert found.loaded is not None
    assert 0 < found.loaded[0] <= found.loaded[1] < found.alone_most * requests
