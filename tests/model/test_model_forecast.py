import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.model.forecast import CALIBRATED, COLD_FLOOR, Effect, Forecast, forecast_from, throughput_forecast


def forecast(low: float, high: float, baseline: float = 100.0) -> Forecast:
    return Forecast("output_throughput", 8, baseline, low, high, "made up")


@pytest.mark.parametrize(
    ("low", "high", "effect"),
    [
        (120, 160, Effect.HELPS),
        (60, 90, Effect.HURTS),
        (95, 105, Effect.HARDLY),
        (80, 130, Effect.CANNOT_TELL),
    ],
)
def test_a_range_says_what_a_change_does(low: float, high: float, effect: Effect) -> None:
    assert forecast(low, high).effect is effect


def test_a_cold_forecast_is_never_narrower_than_its_floor() -> None:
    cold = throughput_forecast(8, 100, [200, 200], "r")
    assert (cold.low, cold.high) == pytest.approx((200 * (1 - COLD_FLOOR), 200 * (1 + COLD_FLOOR)))


def test_a_bound_stays_a_bound() -> None:
    assert throughput_forecast(8, 100, [190, 215], "r", floor=(COLD_FLOOR, 0.0)).high == 215


def test_one_measured_change_corrects_the_next_forecast_and_narrows_it() -> None:
    then = forecast(150, 240).calibrated(earlier=forecast(160, 200), measured=161)
    assert then.middle == pytest.approx((150 * 240) ** 0.5 * 161 / (160 * 200) ** 0.5, rel=0.006)
    assert then.high / then.low == pytest.approx((1 + CALIBRATED) / (1 - CALIBRATED))
    assert "-10%" in then.assumptions[-1]


def test_it_is_written_as_in_a_proposal_and_read_back() -> None:
    document = forecast(153.44, 192.0, 95.6).predicted()
    assert document == {
        "metric": "output_throughput",
        "at": {"max_concurrency": 8},
        "baseline": 95.6,
        "low": 153.4,
        "high": 192.0,
    }
    assert forecast_from(document).low == 153.4


def test_a_range_upside_down_is_refused() -> None:
    with pytest.raises(ValueError, match="from low to high"):
        forecast(10, 5)


@given(st.lists(st.floats(0.1, 1e4), min_size=1, max_size=9))
def test_every_candidate_lies_in_the_range(candidates: list[float]) -> None:
    found = throughput_forecast(8, 100, candidates, "r")
    assert found.low <= min(candidates)
    assert found.high >= max(candidates)


@pytest.mark.parametrize(
    ("low", "high", "effect"),
    [
        (104, 130, Effect.HELPS),
        (80, 96, Effect.HURTS),
        (91, 109, Effect.HARDLY),
        (89, 109, Effect.CANNOT_TELL),
        (91, 111, Effect.CANNOT_TELL),
    ],
)
def test_what_a_range_says_goes_by_both_of_its_ends(low: float, high: float, effect: Effect) -> None:
    assert forecast(low, high).effect is effect
