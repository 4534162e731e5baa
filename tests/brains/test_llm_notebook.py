"""What the model may say, by the answers it gets; whole reports with liars are in test_llm_incidents."""

from typing import Any

from ppagent.agent.contribution import Contribution
from ppagent.agent.investigation import Investigation
from ppagent.brains.llm.brain import LlmBrain
from ppagent.report.document import document_of
from ppagent.report.text import as_text
from tests.agent.fakes import FakeCause, FakeTool, built_in, look_into
from tests.brains.models import Call, FakeModel, scripted

HUNG = FakeCause("PP008", "trouble.hung", name="a stage hangs")
FULL = FakeCause("KV001", "decode.full", name="KV pool exhausted")
LOOK: Call = ("look", {"tools": ["logs.trouble"]})
FINISH: Call = ("finish", {})


def run(*turns: Any, later: bool | None = None) -> tuple[Investigation, FakeModel]:
    """An investigation in which `logs.trouble` shows the hang, and `logs.late` (asked by the rules) may refute it."""
    told = FakeTool(
        "logs.trouble", {"trouble.hung": True, "decode.lines": 32, "engine.version": "0.5.11"}, excerpt="hang 32"
    )
    tools = [told]
    if later is not None:
        tools.append(FakeTool("logs.late", {"decode.full": later}, excerpt="late"))
    model = scripted([LOOK], *turns)
    return look_into(built_in(*tools), causes=[HUNG, FULL], brain=LlmBrain(model)), model


def argue(says: str, stance: str = "for", cause: str = "PP008", *evidence: str) -> Call:
    return "argue", {"cause": cause, "stance": stance, "says": says, "evidence": list(evidence or ("E1",))}


def hypothesise(says: str, value: float = 30) -> Call:
    predicted = [{"fact": "decode.lines", "comparison": ">", "value": value}]
    return "hypothesise", {"says": says, "evidence": ["E1"], "predictions": predicted}


def added(*turns: Any, **options: Any) -> Contribution:
    return run(*turns, **options)[0].contribution


def test_a_statement_that_is_put_right_is_not_struck() -> None:
    found = added([argue("33 lines show it")], [argue("32 lines show it")], [FINISH])

    assert [r.says for r in found.remarks] == ["32 lines show it"]
    assert found.struck == 0


def test_a_statement_that_stays_wrong_is_struck_and_the_report_says_how_many() -> None:
    found, _ = run([argue("33 lines show it"), argue("34 lines show it")], [FINISH])

    assert found.contribution.remarks == () and found.contribution.struck == 2
    assert "2 statements were struck" in " ".join(as_text(document_of(found)).split())


def test_the_model_learns_why_its_statement_was_not_taken() -> None:
    _, model = run([argue("33 lines show it")], [FINISH])

    assert model.requests[2][-1].text == "Not taken: the evidence it cites does not hold 33."


def test_a_remark_the_final_board_contradicts_is_struck() -> None:
    """Said while the cause was supported; what the rules ask afterwards refutes it."""
    doubtful = FakeCause("PP008", "trouble.hung", name="a stage hangs", weights=(0.9, 0.2))
    tools = [FakeTool("logs.trouble", {"trouble.hung": True}, excerpt="hang", provides=("trouble.",))]
    better = FakeTool(
        "http.info", {"trouble.hung": False}, excerpt="no hang", authority=3, provides=("trouble.", "decode.")
    )
    model = scripted([LOOK], [argue("it hangs")], [FINISH])

    found = look_into(built_in(*tools, better), causes=[doubtful, FULL], brain=LlmBrain(model))

    assert found.board.of("PP008").state == "refuted"  # type: ignore[union-attr]
    assert found.contribution.remarks == () and found.contribution.struck == 1


def test_a_remark_needs_an_observation_in_its_direction() -> None:
    found = added(
        [argue("it does not hang", "against"), argue("the pool is full", "for", "KV001")], [FINISH], later=True
    )

    assert found.remarks == () and found.struck == 2


def test_a_hypothesis_says_what_became_of_its_predictions() -> None:
    found, model = run([hypothesise("a slow fan"), hypothesise("a loud fan", value=99)], [FINISH])

    first, second = found.contribution.hypotheses
    assert (first.id, first.state, second.id, second.state) == ("M1", "open", "M2", "refuted")
    assert "M1 taken down, open. holds: decode.lines is 32 (predicted > 30)" in model.requests[2][-2].text
    assert found.verdict == "diagnosed", "by PP008 alone"


def test_a_hypothesis_that_is_on_the_board_is_sent_there() -> None:
    _, model = run([hypothesise("the KV pool is exhausted")], [FINISH])

    assert "KV001 is on the board: argue it there" in model.requests[2][-1].text


def test_what_was_said_twice_and_what_is_too_much_is_not_taken_and_not_struck() -> None:
    many = [hypothesise(f"fan {word}") for word in ("a", "a", "b", "c", "d", "e", "f", "g")]

    found = added(many, [FINISH])

    assert len(found.hypotheses) == 5 and found.struck == 0


def test_a_change_needs_a_hypothesis_that_holds_or_a_supported_cause() -> None:
    def propose(about: str) -> Call:
        change = {"set": [{"flag": "--pp-size", "value": "4"}], "unset": [], "env": []}
        return "propose", {"about": about, "says": "fewer stages", "evidence": ["E1"]} | change

    refuted = added([hypothesise("a fan", value=99)], [propose("M1"), propose("KV001"), propose("M9")], [FINISH])
    held = added([hypothesise("a fan")], [propose("M1")], [FINISH])

    assert refuted.proposals == () and refuted.struck == 3
    assert [dict(p.change.set) for p in held.proposals] == [{"--pp-size": "4"}]


def test_closing_words_stand_in_the_report_with_their_evidence() -> None:
    found, _ = run([("finish", {"says": "A stage hangs, as 32 lines show.", "evidence": ["E1"]})])

    text = " ".join(as_text(document_of(found)).split())
    assert "in closing: A stage hangs, as 32 lines show [E1]" in text
