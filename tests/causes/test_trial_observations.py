"""What a measured cure says of its cause, in words and in weight."""

import pytest

from ppagent.causes.trials import trial_observations
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of

LIVE: dict[str, FactValue] = {
    "set": {"--pp-max-micro-batch-size": "1"},
    "before": 9.0,
    "after": 18.0,
    "noise_share": 0.12,
    "gain_low_share": 0.79,
    "gain_high_share": 1.24,
    "old": 256,
}


def said(**more: FactValue) -> str:
    row = {**LIVE, **more}
    (found,) = trial_observations("PP001", facts_of({"trial.comparisons": [row]}))
    return found.says


def test_a_gain_is_told_with_its_interval_and_beside_its_forecast() -> None:
    assert said(forecast_low=14.0, forecast_high=20.0) == (
        "--pp-max-micro-batch-size 1 was tried: 9 to 18 tok/s, +100% (between +79% and +124%), forecast 14-20, "
        "as its cause foretold"
    )


def test_a_gain_that_nobody_forecast_is_told_with_its_interval() -> None:
    assert said().endswith("+100% (between +79% and +124%), as its cause foretold")


def test_a_row_without_an_interval_is_told_with_its_noise() -> None:
    row = {name: value for name, value in LIVE.items() if not name.startswith("gain_")}
    (found,) = trial_observations("PP001", facts_of({"trial.comparisons": [row]}))
    assert "+100% (noise 12.0%)" in found.says


def observed(**more: FactValue) -> tuple[str, ...]:
    row = {**LIVE, **more}
    return tuple(each.says for each in trial_observations("PP001", facts_of({"trial.comparisons": [row]})))


ODD: list[FactValue] = ["fast", "", None, -9.0, True, float("nan"), float("inf"), [], {}, 10**400, "9" * 400]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["before", "after", "noise_share"])
def test_a_row_without_figures_that_can_be_says_nothing(name: str, odd: FactValue) -> None:
    assert observed(**{name: odd}) == ()
    assert observed(before=0) == observed(after=0) == ()


@pytest.mark.parametrize("odd", ["soon", None, -14.0, 0, float("nan"), float("-inf"), {}])
def test_a_forecast_that_is_none_is_not_missed(odd: FactValue) -> None:
    assert observed(forecast_low=odd, forecast_high=odd)[0].endswith("as its cause foretold")


@pytest.mark.parametrize("odd", [None, [], "x", {"--pp-max-micro-batch-size": None}, {"--pp-max-micro-batch-size": []}])
def test_a_change_that_is_none_is_of_no_cause(odd: FactValue) -> None:
    assert len(observed(set=odd)) <= 1


def test_no_gain_counts_for_nothing_where_requests_had_not_turned_over_and_a_gain_counts_all_the_same() -> None:
    assert observed(after=9.0, noise_share=0.02)[0].endswith("the cure did not help")
    assert observed(after=9.0, noise_share=0.02, unsettled="8 requests ended since, of 32 in flight") == ()
    assert len(observed(unsettled="8 requests ended since, of 32 in flight")) == 1


def test_the_speed_of_one_request_is_not_called_throughput() -> None:
    assert "9 to 18 tok/s of one request, +100%" in observed(unit="tok/s of one request")[0]


def test_a_row_of_an_old_recording_has_neither_causes_nor_interval_nor_unit() -> None:
    old: dict[str, FactValue] = {"set": {"--max-micro-batch-size": 1}, "before": 9, "after": 18, "noise_share": 0.1}
    (found,) = trial_observations("PP001", facts_of({"trial.comparisons": [old]}))
    assert found.says == "--max-micro-batch-size 1 was tried: 9 to 18 tok/s, +100% (noise 10.0%), as its cause foretold"
