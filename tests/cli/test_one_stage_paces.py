"""The stage that paces the ring is the same one whoever names it."""

import re
from pathlib import Path

import pytest

from ppagent.cli.main import main

SEED = str(Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8")


@pytest.mark.parametrize("words", [["diagnose"], ["predict"]])
def test_a_report_and_a_forecast_name_the_last_stage_of_the_seed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([*words, SEED])
    shown = " ".join(capsys.readouterr().out.split())
    named = re.findall(r"(stages? [\d-]+) (?:takes? [\d.]+ ms|paces? the ring)", shown)
    assert named
    assert set(named) == {"stage 7"}
