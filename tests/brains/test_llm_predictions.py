import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.brains.llm.predictions import Expectation, confidence_of, looked_up, state_of, unknown_name
from ppagent.causes.judge import SUPPORTED_FROM
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts

FACTS = Facts(
    [Evidence("E1", "t", "a", {"decode.lines": 32, "args.device": "cuda", "start.ready": True, "gpu.names": {}})]
)


@pytest.mark.parametrize(
    ("fact", "comparison", "value", "outcome"),
    [
        ("decode.lines", ">", 30, "holds"),
        ("decode.lines", ">=", "32", "holds"),
        ("decode.lines", "<", 32, "fails"),
        ("decode.lines", "<=", 31.5, "fails"),
        ("decode.lines", "==", 32.0, "holds"),
        ("decode.lines", "!=", 32, "fails"),
        ("args.device", "==", "CUDA", "holds"),
        ("args.device", "contains", "ud", "holds"),
        ("args.device", ">", 3, "unknown"),
        ("start.ready", "==", True, "holds"),
        ("start.ready", "==", "false", "fails"),
        ("gpu.names", ">", 0, "unknown"),
        ("decode.lines", ">", "many", "unknown"),
        ("metrics.itl_ms", ">", 5, "unknown"),
    ],
)
def test_a_prediction_is_looked_up_in_the_facts(fact: str, comparison: str, value: object, outcome: str) -> None:
    found = looked_up(Expectation(fact, comparison, value), FACTS)  # type: ignore[arg-type]

    assert found.outcome == outcome
    assert found.cites == (("E1",) if fact in FACTS else ())


def test_the_words_of_a_prediction_hold_the_facts_own_value() -> None:
    assert looked_up(Expectation("decode.lines", "<", 3), FACTS).says == "decode.lines is 32 (predicted < 3)"


def test_a_name_outside_the_vocabulary_is_answered_with_its_nearest() -> None:
    assert "did you mean" in unknown_name("decode.line", FACTS)
    assert "no fact 'moon.phase'" in unknown_name("moon.phase", FACTS)
    assert unknown_name("metrics.itl_ms", FACTS) == ""


@given(st.lists(st.sampled_from(["holds", "fails", "unknown"]), max_size=8))
def test_no_predictions_whatever_make_an_own_hypothesis_supported(outcomes: list[str]) -> None:
    wanted = {"holds": 3.0, "fails": 99.0}
    predictions = tuple(
        looked_up(Expectation("decode.lines" if o in wanted else "metrics.itl_ms", ">", wanted.get(o, 0.0)), FACTS)
        for o in outcomes
    )

    assert [p.outcome for p in predictions] == outcomes
    assert confidence_of(predictions) <= 0.5 < SUPPORTED_FROM
    assert state_of(predictions) == (
        "refuted" if "fails" in outcomes else "open" if "holds" in outcomes else "cannot_tell"
    )


def test_each_prediction_that_holds_raises_the_confidence_and_one_that_fails_lowers_it() -> None:
    good, bad = (
        looked_up(Expectation("decode.lines", ">", 3), FACTS),
        looked_up(Expectation("decode.lines", "<", 3), FACTS),
    )

    assert confidence_of(()) < confidence_of((good,)) < confidence_of((good, good))
    assert confidence_of((good, bad)) < confidence_of((good,))
