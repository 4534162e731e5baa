"""The way back of a proposal: the command of now, unless it starts no server."""

from pathlib import Path

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


def test_a_restart_goes_back_to_the_command_of_now(seed: Investigation) -> None:
    restart = next(p for p in seed.plan.proposals if p.kind == "relaunch")
    assert restart.rollback == "restart with the command that ran before this change"


def test_nothing_leads_back_to_a_command_that_starts_no_server() -> None:
    target = open_target(str(INCIDENTS / "la004-ambiguous-flag"))
    found = investigate(target, discover(), brain=brain_of("rules"), planner=make_plan)
    assert [p.rollback for p in found.plan.proposals] == ["none: it does not start now"]
