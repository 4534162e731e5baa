"""How forecasts are scored against measured runs, and that the runs known so far come out near."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest
from pydantic import ValidationError

from ppagent.model.validation import Row, calibrated, from_levels, from_stage_times, read_row, scored
from ppagent.model.workload import Launch

SCRIPT = Path(__file__).parents[2] / "scripts" / "validate_model.py"
LAB = {
    "pp": 8,
    "stage_ms": [40],
    "stage_ms_per_req": [8],
    "stage_ms_per_tok": 0.05,
    "hop_ms": 0.05,
    "host_ms": 8,
    "arrival": "trickle",
    "think_s": 0.2,
    "input_len": 64,
    "output_lens": [20, 60],
}
MEASURED = (
    (None, 0, 1, 2.43),
    (None, 0, 4, 6.68),
    (None, 0, 8, 8.75),
    (1, 0, 8, 19.2),
    (2, 0, 8, 16.4),
    (2, 2, 8, 16.3),
)


def row(limit: int | None, depth: int, concurrency: int, tok_s: float, **others: object) -> dict[str, object]:
    return LAB | {"limit": limit, "depth": depth, "concurrency": concurrency, "measured_tok_s": tok_s} | others


ROWS = [read_row(row(*each)) for each in MEASURED]


def test_stage_times_alone_forecast_the_known_runs_within_ten_percent_each() -> None:
    found = scored(from_stage_times(ROWS))
    assert all(each.inside for each in found)
    assert max(abs(each.miss) for each in found) < 0.10


def test_one_measured_row_corrects_those_that_follow_and_is_not_scored() -> None:
    before = scored(from_stage_times(ROWS))
    after = calibrated(before)
    assert len(after) == len(ROWS) - 1
    assert fmean(abs(each.miss) for each in after) < 0.06
    assert "corrected by" in after[0].forecast.assumptions[-1]


def test_rows_with_a_limit_are_forecast_from_the_rows_without() -> None:
    found = from_levels(ROWS)
    assert [each.row.limit for each in found] == [1, 2]
    assert found[0].forecast.low <= 19.2 <= found[0].forecast.high


def test_the_same_row_under_another_depth_belongs_to_another_curve() -> None:
    assert ROWS[-1].curve != ROWS[-2].curve
    assert ROWS[-1].server == ROWS[-2].server


def test_a_row_says_whether_its_device_blocks_and_how_its_clients_come() -> None:
    run = Row.model_validate(row(None, 0, 8, 10.0, arrival="burst", device="sync")).run()
    assert run.launch is Launch.BLOCKS
    assert run.ring.bookkeeping_ms == LAB["host_ms"]
    assert run.ring.stages[0].host_ms == 0
    assert run.load.lockstep
    assert run.load.start_spread_ms == 0
    assert not run.limited


@pytest.mark.parametrize("wrong", [{"stage_ms": [1, 2]}, {"measured_tok_s": 0}, {"arrival": "storm"}, {"pp": 1}])
def test_a_row_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read_row(row(1, 0, 8, 19.2) | wrong)


def test_the_script_prints_a_score_and_a_line_for_each_row(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row(*each)) + "\n" for each in MEASURED[:2]), encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(file)]
    done = subprocess.run(
        command, cwd=SCRIPT.parents[1], capture_output=True, text=True, check=True, env=_environment()
    )
    assert "| from the stage times | 2 | " in done.stdout
    assert done.stdout.count("| 8 | 40 (+ 8) |") == 2


def test_the_script_names_the_line_that_is_no_row(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"pp": 8}\n', encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(file)]
    done = subprocess.run(command, cwd=SCRIPT.parents[1], capture_output=True, text=True, env=_environment())
    assert done.returncode == 1
    assert "line 1" in done.stderr


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(SCRIPT.parents[1]), "PATH": ""}
