"""`predict` and `diagnose` are one model: a setting has one forecast, wherever it is asked for."""

import json
import sys
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.changes.proposal import Proposal
from ppagent.cli.main import main
from ppagent.plugins import discover
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


def diagnosed(name: str) -> Investigation:
    target = open_target(str(INCIDENTS / name), sys.stdin)
    return investigate(target, discover(), brain=brain_of("rules"), planner=make_plan)


def settings(proposal: Proposal) -> list[str]:
    change = proposal.change
    values = [f"{flag.removeprefix('--')}={value}" for flag, value in change.set.items()]
    values += [f"{flag.removeprefix('--')}=false" for flag in change.unset]
    values += [f"{name}={value}" for name, value in change.env.items()]
    return [word for value in values for word in ("--set", value)]


@pytest.mark.parametrize("name", ["kimi-k26-pp8", "lab-pp8-a", "lab-pp8-b"])
def test_what_a_proposal_promises_predict_says_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    priced = [proposal for proposal in diagnosed(name).plan.proposals if proposal.predicted is not None]
    assert priced
    for proposal in priced:
        assert main(["predict", str(INCIDENTS / name), *settings(proposal), "--format", "json"]) == 0
        said = json.loads(capsys.readouterr().out)["predicted"]
        promised = proposal.predicted
        assert promised is not None
        assert (said["baseline"], said["low"], said["high"]) == (promised.baseline, promised.low, promised.high)
