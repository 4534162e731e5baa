"""The model held against what the lab measured: `evals/lab/validation.jsonl`, and what docs/validation.md shows."""

from pathlib import Path
from statistics import fmean

import pytest

from ppagent.evidence.json_text import read_json
from ppagent.model.validation import Row, Scored, calibrated, from_stage_times, read_row, scored

FILE = Path(__file__).parents[2] / "evals" / "lab" / "validation.jsonl"


def _row(line: str) -> Row:
    document = read_json(line)
    assert isinstance(document, dict)
    return read_row(document)


@pytest.fixture(scope="module")
def found() -> list[Scored]:
    return scored(from_stage_times([_row(line) for line in FILE.read_text(encoding="utf-8").splitlines()]))


def test_after_one_measured_pair_forecasts_are_within_ten_percent_and_four_of_five_in_range(
    found: list[Scored],
) -> None:
    after = calibrated(found)
    assert len(after) >= 30
    assert fmean(abs(each.miss) for each in after) <= 0.10
    assert fmean(each.inside for each in after) >= 0.80


def test_where_a_limit_says_which_slots_are_filled_the_forecast_is_within_three_percent(found: list[Scored]) -> None:
    told = [each for each in found if each.row.limit is not None]
    assert len(told) >= 20
    assert fmean(abs(each.miss) for each in told) <= 0.03
    assert all(each.inside for each in told)
