"""A contributed case is told what it lacks, one sentence a fault."""

from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from ppagent_evals.check_case import faults_of

INCIDENT = """schema_version: 1
id: my-case
title: Slow
question: Why is it slow?
origin: {kind: measured}
stack: {engine: sglang, version: "0.5.20"}
"""
ANSWER = """verdict: diagnosed
causes: [PP001]
fixes: [{set: {--max-micro-batch-size: "1"}}]
evidence: [server.log]
ref: own server
note: slots are empty
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    host = tmp_path / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "server.log").write_text("[2026-01-01 00:00:00 PP0] Decode batch, #running-req: 8\n")
    (host / "sglang_version.txt").write_text("0.5.20\n")
    (tmp_path / "incident.yaml").write_text(INCIDENT)
    (tmp_path / "answer.yaml").write_text(ANSWER)
    return tmp_path


def test_a_whole_case_lacks_nothing_and_an_older_name_of_a_flag_is_fine(case: Path) -> None:
    assert faults_of(case) == ()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("PP001", "PP999", "not in the list of causes"),
        ("causes: [PP001]", "causes: []", "names no cause"),
        ("--max-micro-batch-size", "--no-such-flag", "does not have"),
        ("server.log", "gpus.csv", "does not hold"),
        ("note: slots are empty", "note: ''", "needs ref"),
        ("verdict: diagnosed", "verdict: maybe", "not a valid answer"),
    ],
)
def test_each_fault_of_an_answer_is_named(case: Path, old: str, new: str, fault: str) -> None:
    (case / "answer.yaml").write_text(ANSWER.replace(old, new))
    assert any(fault in said for said in faults_of(case))


@pytest.mark.parametrize("field", ["causes", "also_accepted", "must_not_support", "ruled_out"])
def test_an_answer_that_names_a_cause_of_no_list_is_refused_before_anything_is_scored(
    case: Path, field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a ban on PP999 would hold for ever, and nobody would learn of the typing error."""
    (case / "answer.yaml").write_text(ANSWER.replace("causes: [PP001]\n", "") + f"{field}: [PP999]\n")
    assert main(["eval", str(case)]) == ExitStatus.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"Answers name causes that are not on the list: {case.name} names PP999. Take one of those that" in shown.err


def test_confidences_are_told_where_they_are_asked_for(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["eval", str(case), "--workers", "1"])
    assert "hypotheses" not in (plain := capsys.readouterr().out) and "Brier" not in plain
    main(["eval", str(case), "--workers", "1", "--calibration"])
    shown = capsys.readouterr().out
    assert "confidence     hypotheses  mean  held" in shown
    assert f"{'as computed':<14}{'fitted on':>22}{'held out':>22}" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_secret_left_in_an_artifact_is_named_with_its_file(case: Path) -> None:
    (case / "hosts" / "box" / "launch.txt").write_text("sglang serve m --api-key sk-abcdefghijklmnopqrstuvwxyz123456\n")
    assert any("launch.txt holds what looks like a secret" in said for said in faults_of(case))


def test_an_incident_without_a_question_or_origin_is_incomplete(case: Path) -> None:
    (case / "incident.yaml").write_text("id: x\ntitle: y\nstack: {engine: sglang}\n")
    said = faults_of(case)
    assert any("has no question" in fault for fault in said)
    assert any("origin.kind" in fault for fault in said)
