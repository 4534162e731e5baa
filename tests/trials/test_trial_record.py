from dataclasses import replace
from pathlib import Path

import pytest

from ppagent.model.forecast import Forecast
from ppagent.trials.limit import LimitState
from ppagent.trials.noise import Comparison
from ppagent.trials.record import RecordedForesight, measured_forecast, record_outcome
from tests.trials.test_next_run import OUTCOME

FOUND = Comparison(100, 200, 0.08, "better", "+100%", 0.9, 1.1)
FORECAST = Forecast("output_throughput", 16, 100.0, 150.0, 200.0, "a full ring")


def test_a_disk_that_takes_no_more_costs_the_note_and_not_what_was_measured(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.parent.mkdir(parents=True)
    data.write_text("a file where the folder should be")
    measured_forecast("f1", FOUND)
    assert "what was measured is not noted beside its forecast: " in capsys.readouterr().err


def test_the_speed_of_one_request_is_not_scored_as_throughput(data: Path) -> None:
    state = LimitState("pp_max_micro_batch_size", (16,), 16, 4, "0.5.11")
    recorded = RecordedForesight(lambda first: (FORECAST, ""), "s", state, 2, made=FORECAST)
    record_outcome(recorded, replace(OUTCOME, unit="tok/s of one request", comparison=FOUND))
    assert not (data / "forecasts.jsonl").exists()
    record_outcome(recorded, replace(OUTCOME, comparison=FOUND))
    assert '"after": 200' in (data / "forecasts.jsonl").read_text()
