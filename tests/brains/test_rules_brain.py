import pytest

from ppagent.agent.board import compute_board
from ppagent.agent.choosing import Stop, ToolCall, View
from ppagent.agent.toolbox import Offer
from ppagent.brains.brain import brain_of
from ppagent.brains.rules import RulesBrain
from ppagent.errors import UserError
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from ppagent.plugins import Grade
from tests.agent.fakes import FakeCause, FakeTool


def offer(name: str, *provides: str, grade: Grade = Grade.READ_FILE) -> Offer:
    return Offer(FakeTool(name, grade=grade, provides=provides), "built in", grade)


def choice(
    offers: list[Offer], causes: list[FakeCause], known: dict[str, FactValue] | None = None, asked: tuple[str, ...] = ()
) -> ToolCall | Stop:
    evidence = (Evidence("E1", "t", "server.log", known or {}),)
    facts = Facts(evidence)
    view = View(
        question="",
        board=compute_board(facts, causes),
        verdict="not_enough_evidence",
        facts=facts,
        evidence=evidence,
        missing=(),
        offers=tuple(offers),
        asked=frozenset(ToolCall(name, "").key for name in asked),
        ceiling=Grade.READ_HOST,
    )
    return RulesBrain().choose(view)


def test_the_tool_that_bears_on_more_uncertainty_comes_first() -> None:
    causes = [FakeCause("AA001", "a.x", prior=0.5), FakeCause("BB001", "b.x", prior=0.05)]

    chosen = choice([offer("b.tool", "b."), offer("a.tool", "a.")], causes)

    assert chosen == ToolCall("a.tool", "it may decide AA001")


def test_at_equal_worth_the_gentler_tool_comes_first() -> None:
    causes = [FakeCause("AA001", "a.x")]

    chosen = choice([offer("a.shell", "a.", grade=Grade.READ_HOST), offer("a.tool", "a.")], causes)

    assert isinstance(chosen, ToolCall) and chosen.tool == "a.tool"


def test_ties_are_broken_by_name_whatever_the_order() -> None:
    causes = [FakeCause("AA001", "a.x")]
    offers = [offer("a.two", "a."), offer("a.one", "a.")]

    assert choice(offers, causes) == choice(offers[::-1], causes) == ToolCall("a.one", "it may decide AA001")


def test_every_read_comes_before_a_tool_above_the_ceiling() -> None:
    many = [FakeCause(f"AA{n:03}", f"a.x{n}", prior=0.5) for n in range(200)]

    perturbing, reading = offer("a.bench", "a.", grade=Grade.PERTURB), offer("b.tool", "b.")

    chosen = choice([perturbing, reading], [*many, FakeCause("BB001", "b.x")])

    assert isinstance(chosen, ToolCall) and chosen.tool == "b.tool"


def test_a_fact_that_is_known_is_not_asked_for_again() -> None:
    assert isinstance(choice([offer("a.tool", "a.")], [FakeCause("AA001", "a.x")], {"a.x": None}), Stop)


def test_a_tool_that_was_asked_is_not_asked_again() -> None:
    assert isinstance(choice([offer("a.tool", "a.")], [FakeCause("AA001", "a.x")], asked=("a.tool",)), Stop)


def test_where_no_cause_wants_to_know_nothing_is_asked() -> None:
    assert choice([offer("c.tool", "c.")], [FakeCause("AA001", "a.x")]) == Stop("no tool can move the board any more")


def test_a_brain_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert brain_of("rules").name == "rules"
    with pytest.raises(UserError, match="auto, rules, llm"):
        brain_of("oracle")
