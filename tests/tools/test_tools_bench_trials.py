"""Recorded trials: measured ones beside the present result at the same load, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from ppagent.errors import NotRecorded
from ppagent.plugins import NoArguments, ToolContext
from ppagent.targets.recording import Recording
from ppagent_tools.bench_trials import Trials

NOW = {"max_concurrency": 8, "random_output_len": 100, "output_throughput": 100.0, "input_throughput": 900.0}


def trial(rate: float, origin: str = "measured", **load: Any) -> dict[str, Any]:
    change = {"set": {"--attention-backend": "fa3"}, "unset": [], "env": {}, "live": False}
    return {"change": change, "bench": {**NOW, "output_throughput": rate, **load}, "origin": origin}


def compared(tmp_path: Path, *trials: dict[str, Any], now: dict[str, Any] = NOW) -> Any:
    (tmp_path / "hosts" / "box").mkdir(parents=True)
    (tmp_path / "hosts" / "box" / "launch.txt").write_text("sglang serve m\n")
    (tmp_path / "bench.jsonl").write_text(json.dumps(now) + "\n")
    (tmp_path / "relaunches.jsonl").write_text("".join(json.dumps(row) + "\n" for row in trials))
    (finding,) = Trials().run(ToolContext(Recording(tmp_path)), NoArguments())
    assert finding.excerpt and finding.excerpt in (tmp_path / "relaunches.jsonl").read_text()
    return finding.facts["trial.comparisons"]


def test_a_measured_trial_stands_beside_the_present_result_at_its_load(tmp_path: Path) -> None:
    (row,) = compared(tmp_path, trial(151.0))
    assert (row["before"], row["after"], row["set"]) == (100.0, 151.0, {"--attention-backend": "fa3"})


def test_runs_that_only_prefill_are_compared_by_their_input(tmp_path: Path) -> None:
    now = NOW | {"random_output_len": 1}
    (row,) = compared(tmp_path, trial(2.0, random_output_len=1, input_throughput=1800.0), now=now)
    assert (row["before"], row["after"]) == (900.0, 1800.0)


@pytest.mark.parametrize("other", [trial(150.0, "simulated"), trial(150.0, max_concurrency=16)])
def test_simulated_results_and_other_loads_prove_nothing(tmp_path: Path, other: dict[str, Any]) -> None:
    with pytest.raises(NotRecorded, match="counterpart"):
        compared(tmp_path, other)
