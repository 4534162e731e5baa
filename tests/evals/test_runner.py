"""The runner: a crash or a time-out fails its case and nothing else."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppagent.errors import UserError
from ppagent_evals.results import brier_score, compare, summarise
from ppagent_evals.runner import find_incidents, run_all, run_case
from ppagent_evals.table import as_text, cost_lines, origin_line


def incident(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    (place / "answer.yaml").write_text("schema_version: 1\nverdict: healthy\n")
    return place


def healthy(_recording: Path) -> dict[str, Any]:
    return {
        "verdict": "healthy",
        "hypotheses": [],
        "evidence": [],
        "proposals": [],
        "next_probes": [],
        "cost": {"tool_calls": {}},
    }


def crashing(recording: Path) -> dict[str, Any]:
    if recording.name == "bad":
        raise ZeroDivisionError("no such thing")
    return healthy(recording)


def endless(_recording: Path) -> dict[str, Any]:
    time.sleep(30)
    return {}


def test_a_crash_fails_its_case_and_leaves_the_others(tmp_path: Path) -> None:
    recordings = [incident(tmp_path, name) for name in ("bad", "good")]
    results = {r.id: r for r in run_all(recordings, crashing, workers=2, seconds=10)}
    assert results["good"].passed
    assert not results["bad"].passed
    assert results["bad"].error == "ZeroDivisionError: no such thing"
    summary = summarise("x", list(results.values()))
    assert (summary.passed, summary.crashed, summary.verdict) == (0.5, 1, 0.5)


def test_a_case_that_never_ends_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    result = run_case(incident(tmp_path, "slow"), endless, 0.2)
    assert result.error == "took more than 0.2 s"
    assert time.monotonic() - started < 5


def test_incidents_are_found_in_folders_and_beside_single_logs(tmp_path: Path) -> None:
    incident(tmp_path, "b")
    (tmp_path / "a.log").write_text("x\n")
    (tmp_path / "a.answer.yaml").write_text("verdict: healthy\n")
    assert [path.name for path in find_incidents([tmp_path])] == ["a.log", "b"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="No recorded incident"):
        find_incidents([empty])


def test_what_changed_since_a_saved_run_is_told_case_by_case(tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    before.write_text('{"cases": {"rules": [{"id": "a", "passed": false}, {"id": "b", "passed": true}]}}')
    results = [run_case(incident(tmp_path, name), brain, 10) for name, brain in (("a", healthy), ("b", endless_crash))]
    assert compare(before, {"rules": results}) == ("rules: a got better", "rules: b got worse")
    before.write_text("[]")
    with pytest.raises(UserError, match="no saved eval run"):
        compare(before, {"rules": results})


def endless_crash(_recording: Path) -> dict[str, Any]:
    raise KeyError("x")


def test_the_brier_score_of_perfect_confidence_is_zero(tmp_path: Path) -> None:
    def sure(_recording: Path) -> dict[str, Any]:
        reason = [{"evidence": "E1", "says": "so"}]
        hypothesis = {"cause": "PP001", "state": "refuted", "confidence": 0.0, "because": [], "against": reason}
        return healthy(_recording) | {"hypotheses": [hypothesis]}

    assert brier_score([run_case(incident(tmp_path, "a"), sure, 10)]) == 0


def test_repeats_of_a_case_show_their_spread(tmp_path: Path) -> None:
    recordings = [incident(tmp_path, name) for name in ("a", "b")]
    rows = list(run_all(recordings, healthy, workers=1, seconds=10, repeats=3))
    assert sorted((row.id, row.repeat) for row in rows) == [(n, k) for n in ("a", "b") for k in range(3)]
    rows = [replace(row, verdict="", score=None) if row.repeat == 2 and row.id == "a" else row for row in rows]
    summary = summarise("llm", rows)
    assert (summary.cases, summary.repeats, summary.spread) == (2, 3, 0.25)
    assert as_text([summary]).splitlines()[1].split()[1:3] == ["0.83", "±0.25"]


def test_the_widest_table_fits_a_hundred_columns(tmp_path: Path) -> None:
    rows = list(run_all([incident(tmp_path, "a")], healthy, workers=1, seconds=10, repeats=2))
    summary = replace(summarise("always-graphs", rows), seconds=123.45, calls=99, harm=67)
    assert max(map(len, as_text([summary]).splitlines())) <= 100


def test_what_a_diagnosis_cost_is_kept_by_case(tmp_path: Path) -> None:
    def dear(recording: Path) -> dict[str, Any]:
        return healthy(recording) | {"cost": {"tool_calls": {"0": 4, "1": 2}, "steps": 6, "tokens": 900, "usd": 0.5}}

    result = run_case(incident(tmp_path, "a"), dear, 5)
    assert (result.calls, result.steps, result.tokens, result.usd) == (6, 6, 900, 0.5)
    assert cost_lines([summarise("llm", [result])]) == "llm: 900 tokens a case, 0.50 USD in all, 1 run"


def test_one_incident_is_not_told_as_several(tmp_path: Path) -> None:
    rows = [run_case(incident(tmp_path, name), healthy, 5) for name in ("a", "b")]
    assert origin_line(summarise("rules", rows[:1])).startswith("1 incident: ")
    assert origin_line(summarise("rules", rows)).startswith("2 incidents: ")


def test_a_worker_ends_at_a_signal_without_a_word_whatever_its_parent_does(tmp_path: Path) -> None:
    script = (
        "import signal\n"
        "from ppagent_evals.runner import quiet_pool\n"
        "def told(number, frame): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGTERM, told)\n"
        "with quiet_pool(2) as pool:\n"
        "    print(pool.map(abs, [-1, 2]))\n"
    )
    places = os.pathsep.join(str(Path(__file__).parents[2] / folder) for folder in ("", "evals", "tools"))
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("[1, 2]\n", "")
