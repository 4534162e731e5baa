"""Fitting confidences: honest about which half it saw, and what an answer leaves open counts on neither side."""

import json
import random
from pathlib import Path

import pytest

from ppagent.causes.calibration import Calibration
from ppagent_evals.calibrate import chosen, fit, log_loss, read_run
from ppagent_evals.calibration_data import Told, first_sight, fitted_half, halves, told_of
from ppagent_evals.calibration_table import brier, calibration_text
from ppagent_evals.confidence import Confidence
from ppagent_evals.runner import CaseResult


def drawn(truth: Calibration, count: int, seed: int = 3) -> list[Told]:
    """Hypotheses that hold as often as `truth` makes of their posteriors."""
    rng = random.Random(seed)
    posteriors = [rng.uniform(0.03, 0.97) for _ in range(count)]
    return [Told(f"case-{n % 60}", p, rng.random() < truth.told(p), True, 1.0) for n, p in enumerate(posteriors)]


def incident(folder: Path, name: str, answer: str) -> Path:
    place = folder / name
    place.mkdir()
    (place / "answer.yaml").write_text(f"schema_version: 1\nverdict: diagnosed\n{answer}\n")
    return place


def result(name: str, *confidences: tuple[str, float]) -> CaseResult:
    told = tuple(Confidence(cause, p, False, p) for cause, p in confidences)
    return CaseResult(name, "synthetic", None, 0.1, confidences=told)


@pytest.mark.parametrize("truth", [Calibration(2.0, -0.5), Calibration(0.5, 0.8)])
def test_a_fit_finds_the_map_that_made_the_data(truth: Calibration) -> None:
    found = fit(drawn(truth, 6000))
    assert found.scale == pytest.approx(truth.scale, abs=0.15)
    assert found.shift == pytest.approx(truth.shift, abs=0.15)


def test_a_fitted_map_replaces_the_identity_only_where_incidents_left_out_gain() -> None:
    better, plain, fitted = chosen(drawn(Calibration(2.5, -1.0), 3000))
    assert fitted < plain and better.scale > 1.8
    well_calibrated = drawn(Calibration(), 3000)
    kept, plain, fitted = chosen(well_calibrated)
    assert abs(log_loss(well_calibrated, kept) - log_loss(well_calibrated, Calibration())) < 0.01


def test_a_fit_lowers_the_brier_score_of_data_that_it_did_not_see() -> None:
    truth = Calibration(2.5, -1.0)
    unseen = drawn(truth, 3000, seed=11)
    assert brier(unseen, fit(drawn(truth, 3000))) < brier(unseen, Calibration()) - 0.01


def test_halves_are_by_name_and_share_no_incident() -> None:
    both = halves(drawn(Calibration(), 600))
    assert {t.incident for t in both[True]}.isdisjoint({t.incident for t in both[False]})
    assert all(fitted_half(t.incident) for t in both[True]) and both[True] and both[False]


def test_what_an_answer_only_accepts_is_counted_on_neither_side(tmp_path: Path) -> None:
    answer = "causes: [PP001]\nalso_accepted: [PP004]\nmust_not_support: [KV001]"
    case = incident(tmp_path, "a", answer)
    told = told_of([result("a", ("PP001", 0.9), ("PP004", 0.6), ("KV001", 0.1), ("HW001", 0.2))], [], [case])
    assert [(t.posterior, t.held, t.listed) for t in told] == [
        (0.9, True, True), (0.1, False, True), (0.2, False, False)
    ]  # fmt: skip


def test_every_incident_weighs_the_same_however_often_it_was_spoiled(tmp_path: Path) -> None:
    cases = [incident(tmp_path, name, "causes: [PP001]") for name in ("a", "b")]
    rows = [result("a", ("PP001", 0.9), ("CG001", 0.1))] * 5 + [result("b", ("PP001", 0.8))]
    told = told_of(rows, [], cases)
    for name in ("a", "b"):
        assert sum(t.weight for t in told if t.incident == name) == pytest.approx(1)


def test_incidents_at_first_sight_keep_what_was_computed_then(tmp_path: Path) -> None:
    case = incident(tmp_path, "a", "causes: [PP001]")
    path = tmp_path / "first_sight.json"
    batches = [{"written": 1, "passed": 0}, {"written": 1, "passed": 1, "computed": {"a": [["PP001", 0.8]]}}]
    path.write_text(json.dumps({"batches": batches}))
    assert [(t.posterior, t.held) for t in first_sight([case], path)] == [(0.8, True)]
    assert first_sight([case], tmp_path / "none.json") == []


def test_the_text_names_what_was_told_as_nearly_certain_on_the_half_that_was_held_out() -> None:
    told = [Told("case-0", 0.95, True, True, 1.0), Told("case-0", 0.96, False, False, 1.0)]
    held_out = "fitted on" if fitted_half("case-0") else "held out"
    text = calibration_text(told, [], Calibration())
    assert f"told at 0.9 or more, {held_out}: 1 of 2 held (1 of 1 that the answer lists)" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_saved_run_gives_its_confidences_back(tmp_path: Path) -> None:
    entry = {"id": "a", "origin": "measured", "seconds": 1.0, "confidences": [["PP001", 0.97, True, 0.9]]}
    spoiled = {"id": "a", "label": "x", "verdict": "healthy", "confidences": [["PP001", 0.5, True, 0.5]]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"cases": {"rules": [entry]}, "spoiled": [spoiled]}))
    results, copies = read_run(path)
    assert results[0].confidences[0].computed == 0.9 and copies[0].confidences[0].told == 0.5
