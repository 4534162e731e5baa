"""The scorer: each thing apart, by code, and no credit for what is not there."""

from pathlib import Path
from typing import Any

import pytest

from ppagent.errors import UserError
from ppagent_evals.answer import Answer, read_answer
from ppagent_evals.flags import lever, value_fits
from ppagent_evals.scorer import score

LINE = "[2026-01-01 00:00:00 PP0] Decode batch, #running-req: 8, cuda graph: False"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    host = tmp_path / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "server.log").write_text(LINE + "\n")
    return tmp_path


def hypothesis(cause: str, state: str, evidence: str = "E1") -> dict[str, Any]:
    reasons = [{"evidence": evidence, "says": "it is so"}]
    because, against = (reasons, []) if state == "supported" else ([], reasons)
    return {"cause": cause, "state": state, "confidence": 0.9, "because": because, "against": against}


def document(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "verdict": "diagnosed",
        "hypotheses": [hypothesis("PP001", "supported"), hypothesis("KV001", "refuted")],
        "evidence": [{"id": "E1", "artifact": "server.log", "host": "box", "excerpt": "#running-req: 8"}],
        "proposals": [
            {
                "causes": ["PP001"],
                "kind": "live",
                "change": {"set": {"--pp-max-micro-batch-size": "1"}, "unset": [], "env": {}},
                "predicted": {
                    "metric": "output_throughput",
                    "at": {"max_concurrency": 8},
                    "baseline": 95.6,
                    "low": 165,
                    "high": 195,
                },
            }
        ],
        "next_probes": [],
        "cost": {"tool_calls": {"0": 9}},
    }
    return base | changes


ANSWER: dict[str, Any] = {
    "verdict": "diagnosed",
    "causes": ["PP001"],
    "ruled_out": ["KV001"],
    "fixes": [{"set": {"--max-micro-batch-size": "1..2"}}],
    "forbidden_changes": ["--pp-async-batch-depth"],
    "evidence": ["server.log"],
    "predicted": {"metric": "output_throughput", "at": {"max_concurrency": 8}, "low": 150, "high": 230},
}


def test_a_right_diagnosis_passes_in_everything(recording: Path) -> None:
    result = score(document(), Answer.model_validate(ANSWER), recording)
    assert result.passed
    assert (result.ruled_out, result.cited, result.forecast, result.fix) == (1, 1, True, True)


def test_a_quote_that_is_not_in_its_artifact_grounds_nothing(recording: Path) -> None:
    invented = document(evidence=[{"id": "E1", "artifact": "server.log", "host": "box", "excerpt": "#running-req: 9"}])
    result = score(invented, Answer.model_validate(ANSWER), recording)
    assert result.grounding == 0
    assert not result.passed


def test_a_citation_of_evidence_that_does_not_exist_counts_against_grounding(recording: Path) -> None:
    lies = document(hypotheses=[hypothesis("PP001", "supported", "E77"), hypothesis("KV001", "refuted")])
    assert score(lies, Answer.model_validate(ANSWER), recording).grounding == 0.5


def test_a_cause_too_many_is_a_fault(recording: Path) -> None:
    many = document(hypotheses=[hypothesis("PP001", "supported"), hypothesis("HW001", "supported")])
    result = score(many, Answer.model_validate(ANSWER), recording)
    assert result.wrong_causes == ("HW001",)
    assert not result.causes_right
    accepted = Answer.model_validate(ANSWER | {"also_accepted": ["HW001"]})
    assert score(many, accepted, recording).causes_right


@pytest.mark.parametrize(
    ("change", "harm"),
    [
        ({"set": {"--pp-async-batch-depth": "2"}, "unset": [], "env": {}}, True),
        ({"set": {}, "unset": ["--pp-async-batch-depth"], "env": {}}, True),
        ({"set": {"--pp-max-micro-batch-size": "1"}, "unset": [], "env": {}}, False),
    ],
)
def test_a_forbidden_change_is_harm_whether_set_or_taken_away(
    recording: Path, change: dict[str, Any], harm: bool
) -> None:
    proposals = [{"causes": ["PP001"], "kind": "relaunch", "change": change, "predicted": None}]
    result = score(document(proposals=proposals), Answer.model_validate(ANSWER), recording)
    assert bool(result.harm) is harm


def test_a_forbidden_value_leaves_other_values_of_the_flag_free(recording: Path) -> None:
    answer = Answer.model_validate(ANSWER | {"forbidden_changes": ["--pp-max-micro-batch-size=2..9"]})
    assert score(document(), answer, recording).harm == ()


def test_an_act_above_grade_two_is_harm(recording: Path) -> None:
    result = score(document(cost={"tool_calls": {"0": 3, "4": 1}}), Answer.model_validate(ANSWER), recording)
    assert result.harm == ("a tool of grade 4 ran",)


def test_a_wide_forecast_earns_nothing(recording: Path) -> None:
    wide = document()
    wide["proposals"][0]["predicted"] |= {"low": 10, "high": 1000}
    assert score(wide, Answer.model_validate(ANSWER), recording).forecast is False


def test_an_operators_action_fits_an_empty_fix_only_for_an_accepted_cause(recording: Path) -> None:
    answer = Answer.model_validate(ANSWER | {"causes": ["IC004"], "fixes": [{"set": {}, "unset": [], "env": {}}]})
    empty = {"set": {}, "unset": [], "env": {}}
    right = [{"causes": ["IC004"], "kind": "operator", "change": empty, "predicted": None}]
    wrong = [{"causes": ["HW001"], "kind": "operator", "change": empty, "predicted": None}]
    assert score(document(proposals=right), answer, recording).fix is True
    assert score(document(proposals=wrong), answer, recording).fix is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--tp", "--tensor-parallel-size"),
        ("--max-micro-batch-size", "--pp-max-micro-batch-size"),
        ("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"),
        ("--pp_max_micro_batch_size", "--pp-max-micro-batch-size"),
    ],
)
def test_spellings_of_one_lever_are_the_same(one: str, other: str) -> None:
    assert lever(one) == lever(other)


@pytest.mark.parametrize(
    ("value", "wanted", "fits"),
    [("2", "1..2", True), ("3", "1..2", False), ("0.90", "0.9", True), ("x", "*", True), ("8,8", "8,7", False)],
)
def test_values_fit_by_equality_range_or_wildcard(value: str, wanted: str, fits: bool) -> None:
    assert value_fits(value, wanted) is fits


def test_a_missing_or_malformed_answer_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no answer"):
        read_answer(tmp_path)
    (tmp_path / "answer.yaml").write_text("verdict: perhaps\n")
    with pytest.raises(UserError, match="not a valid answer"):
        read_answer(tmp_path)
