"""What a measured cure says of its cause, in words and in weight."""

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
