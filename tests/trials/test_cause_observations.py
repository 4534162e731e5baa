import pytest

from ppagent.causes.catalog import cause_of
from ppagent.causes.cause import Change
from ppagent.causes.judge import judge
from ppagent.causes.trials import trial_observations
from ppagent.evidence.evidence import Evidence, FactValue, Finding
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.model.forecast import Forecast
from ppagent.trials.facts import comparison_row
from ppagent.trials.noise import Sample, compare

LIMIT = Change({"--pp-max-micro-batch-size": "1"})


def facts(
    after: float,
    *,
    causes: tuple[str, ...] = ("PP001",),
    low: float | None = None,
    more: dict[str, FactValue] | None = None,
) -> Facts:
    comparison = compare([Sample(100, 0.003), Sample(101, 0.003)], [Sample(after, 0.003)])
    forecast = Forecast("output_throughput", 8, 100, low, 2 * low, "") if low is not None else None
    row = comparison_row(
        LIMIT, comparison, causes=causes, concurrency=8, forecast=forecast, outputs="identical", old=512
    )
    ledger = Ledger()
    ledger.add("tune.set_limit", Finding("trial", {"trial.comparisons": [row]}, "", authority=3))
    ledger.add("server.args", Finding("server_info.json", {"args.pp_size": 8, **(more or {})}, ""))
    return ledger.facts()


def test_a_cure_that_worked_speaks_for_its_cause() -> None:
    (found,) = trial_observations("PP001", facts(187, low=165))
    assert found.supports
    assert "100.5 to 187" in found.says
    assert found.cites == ("E1",)


def test_a_cure_that_did_nothing_speaks_against_it() -> None:
    (found,) = trial_observations("PP001", facts(101, low=165))
    assert not found.supports
    assert "did not help" in found.says


def test_a_prediction_that_failed_turns_the_cause() -> None:
    clumped: dict[str, FactValue] = {"decode.running_req.p95": 8.0, "stated.in_flight": 8.0}
    cause = cause_of("PP001")
    before = judge(cause, Facts(_evidence(clumped)))
    after = judge(cause, facts(100, low=165, more=clumped))
    assert after.confidence < before.confidence
    assert any("did not help" in observation.says for observation in after.against)
    helped = judge(cause, facts(187, low=165, more=clumped))
    assert helped.confidence > before.confidence


def test_a_gain_far_below_the_forecast_is_weak_support() -> None:
    (weak,) = trial_observations("PP001", facts(115, low=165))
    (strong,) = trial_observations("PP001", facts(187, low=165))
    assert weak.supports
    assert weak.if_true / weak.if_false < strong.if_true / strong.if_false
    assert "far below" in weak.says


def test_a_trial_speaks_of_the_causes_it_was_for_and_of_no_other() -> None:
    assert trial_observations("KV001", facts(187)) == ()
    assert trial_observations("CG001", facts(187, causes=("CG001",)))[0].supports


@pytest.mark.parametrize(("old", "new", "cause"), [(512, "1", "PP001"), (1, "4", "PP003")])
def test_without_a_name_the_setting_tells_the_cause(old: int, new: str, cause: str) -> None:
    row: dict[str, FactValue] = {
        "set": {"--pp-max-micro-batch-size": new},
        "old": old,
        "before": 100.0,
        "after": 150.0,
        "noise_share": 0.03,
    }
    ledger = Ledger()
    ledger.add("chat", Finding("trial", {"trial.comparisons": [row]}, ""))
    assert trial_observations(cause, ledger.facts())[0].supports


def test_a_wide_noise_band_counts_against_nothing() -> None:
    row: dict[str, FactValue] = {
        "set": {"--pp-max-micro-batch-size": "1"},
        "before": 100.0,
        "after": 104.0,
        "noise_share": 0.2,
    }
    ledger = Ledger()
    ledger.add("chat", Finding("trial", {"trial.comparisons": [row, "odd", {"before": None}]}, ""))
    assert trial_observations("PP001", ledger.facts()) == ()


def _evidence(values: dict[str, FactValue]) -> tuple[Evidence, ...]:
    ledger = Ledger()
    ledger.add("server.args", Finding("server_info.json", {"args.pp_size": 8, **values}, ""))
    return tuple(ledger.evidence)
