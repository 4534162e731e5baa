"""Spoiled copies: the original is never touched, and only a wrong cause counts against a brain."""

from pathlib import Path
from typing import Any

import pytest

from ppagent_evals.perturb import run_variant, summary, variants_of
from ppagent_evals.spoilers import LOG_SPOILERS

LINES = "".join(f"line {n}\n" for n in range(9))


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    place = tmp_path / "case"
    host = place / "hosts" / "box"
    (host / "metrics").mkdir(parents=True)
    (host / "server.log").write_text(LINES)
    for n in (1, 2):
        (host / "metrics" / f"{n}.prom").write_text("x 1\n")
    (place / "answer.yaml").write_text("verdict: diagnosed\ncauses: [PP001]\nalso_accepted: [PP004]\n")
    (place / "relaunches.jsonl").write_text("{}\n")
    return place


def says(*causes: str) -> dict[str, Any]:
    return {"verdict": "diagnosed", "hypotheses": [{"cause": cause, "state": "supported"} for cause in causes]}


def test_each_artifact_goes_once_and_the_answer_never(recording: Path) -> None:
    labels = [variant.label for variant in variants_of(recording)]
    assert "without hosts/box/server.log" in labels
    assert labels.count("without hosts/box/metrics") == 1
    assert not any("answer" in label or "relaunches" in label for label in labels)
    assert len(labels) == len(set(labels)) == 2 + len(LOG_SPOILERS) + 3


def test_a_spoiled_log_leaves_the_original_as_it_was(recording: Path) -> None:
    seen: dict[str, str] = {}

    def brain(copy: Path) -> dict[str, Any]:
        log = copy / "hosts" / "box" / "server.log"
        seen[str(len(seen))] = log.read_text() if log.exists() else "gone"
        return says("PP001")

    for variant in variants_of(recording):
        run_variant(variant, brain)
    assert (recording / "hosts" / "box" / "server.log").read_text() == LINES
    assert "gone" in seen.values()
    assert any(text != LINES and text.startswith("line 0") and len(text) < len(LINES) for text in seen.values())


def test_only_a_cause_outside_the_accepted_ones_is_wrong(recording: Path) -> None:
    variant = next(variants_of(recording))
    assert run_variant(variant, lambda _: says("PP004")).wrong_causes == ()
    result = run_variant(variant, lambda _: says("PP001", "HW001"))
    assert result.wrong_causes == ("HW001",)
    assert "a wrong cause in 1 (50.0%)" in summary([result, run_variant(variant, lambda _: says())])
