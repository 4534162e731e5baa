"""Where the ceiling allows it, an investigation ends with the trial of the live change that it proposes."""

from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from ppagent.agent.choosing import Stop, ToolCall
from ppagent.agent.desk import Planner
from ppagent.causes.cause import Change
from ppagent.causes.judge import Judgement
from ppagent.changes.proposal import Plan, Predicted, Proposal
from ppagent.evidence.facts import Facts
from ppagent.plugins import Grade
from tests.agent.fakes import FakeBrain, FakeCause, FakeTool, built_in, look_into

HELD = FakeCause("PP001", "trouble.hung")
SEEN = FakeTool("logs.a", {"trouble.hung": True})


class Limit(BaseModel, extra="forbid"):
    limit: int
    concurrency: int = 0
    output_tokens: list[int] = []
    predicted: dict[str, float] = {}


FORETOLD = {"baseline": 9.0, "low": 17.0, "high": 24.0}


def trial(**more: object) -> FakeTool:
    facts = {"trial.comparisons": [{"set": {"--pp-max-micro-batch-size": "1"}, "before": 9.0, "after": 19.0}]}
    return FakeTool("tune.set_limit", facts, grade=Grade.PERTURB, arguments=Limit, **more)  # type: ignore[arg-type]


def planned(*proposals: Proposal, needs: str = "PP001") -> Planner:
    def plan(supported: Sequence[Judgement], facts: Facts) -> Plan:
        return Plan(proposals if any(judgement.cause.id == needs for judgement in supported) else ())

    return plan


def live(value: str = "1", kind: str = "live") -> Proposal:
    predicted = Predicted("output_throughput", 8.0, 9.0, 17.0, 24.0)
    change = Change({"--pp-max-micro-batch-size": value})
    return Proposal("P1", ("PP001",), kind, "spread", change, ("E1",), predicted=predicted)  # type: ignore[arg-type]


def test_the_live_change_that_is_proposed_is_tried_once_at_the_load_of_its_forecast() -> None:
    tool = trial()
    found = look_into(built_in(SEEN, tool), causes=[HELD], kind="local", planner=planned(live()), ceiling=Grade.LOAD)
    assert tool.runs == [Limit(limit=1, concurrency=8, predicted=FORETOLD)]
    assert found.evidence[-1].tool == "tune.set_limit"
    assert found.stopped == "no tool can move the board any more"
    assert not found.denied


@pytest.mark.parametrize(("itl_ms", "tokens"), [(20.0, [48, 96]), (300.0, [10, 20]), (5000.0, [4, 8])])
def test_answers_are_as_short_as_the_measured_speed_asks_for(itl_ms: float, tokens: list[int]) -> None:
    tool = trial()
    levels = FakeTool("bench.results", {"bench.levels": [{"concurrency": 8, "mean_itl_ms": itl_ms}]})
    brain = FakeBrain([ToolCall("logs.a", "to look"), ToolCall("bench.results", "to look")])
    sources = built_in(SEEN, levels, tool)
    look_into(sources, causes=[HELD], kind="local", planner=planned(live()), ceiling=Grade.LOAD, brain=brain)
    assert tool.runs == [Limit(limit=1, concurrency=8, output_tokens=tokens, predicted=FORETOLD)]


@pytest.mark.parametrize(
    ("proposal", "ceiling"),
    [(live(), Grade.READ_HOST), (live(kind="relaunch"), Grade.LOAD), (live("many"), Grade.LOAD), (None, Grade.LOAD)],
)
def test_nothing_is_tried_that_is_not_live_or_not_allowed(proposal: Proposal | None, ceiling: Grade) -> None:
    tool = trial()
    plan = planned(*([proposal] if proposal is not None else []))
    found = look_into(built_in(SEEN, tool), causes=[HELD], kind="local", planner=plan, ceiling=ceiling)
    assert tool.runs == []
    assert not found.denied


def test_a_trial_that_failed_is_not_repeated() -> None:
    from ppagent.errors import ToolError

    tool = trial(error=ToolError("the server refused"))
    found = look_into(built_in(SEEN, tool), causes=[HELD], kind="local", planner=planned(live()), ceiling=Grade.LOAD)
    assert len(tool.runs) == 1
    assert [missing.why for missing in found.missing] == ["the server refused"]


def test_a_brain_that_tried_it_already_is_not_overruled() -> None:
    tool = trial()
    brain = FakeBrain([ToolCall("logs.a", "to look"), ToolCall("tune.set_limit", "my own idea", {"limit": 2})])
    look_into(
        built_in(SEEN, tool), causes=[HELD], kind="local", planner=planned(live()), ceiling=Grade.LOAD, brain=brain
    )
    assert tool.runs == [Limit(limit=2)]


def test_a_brain_whose_money_is_gone_tries_nothing_more() -> None:
    class Poor(FakeBrain):
        def choose(self, view: object) -> Stop:
            return Stop("no money left", budget_used_up=True)

    tool = trial()
    look_into(
        built_in(SEEN, tool), causes=[HELD], kind="local", planner=planned(live()), ceiling=Grade.LOAD, brain=Poor([])
    )
    assert tool.runs == []
