"""The seed's own facts, read once from its recording."""

import io
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


@pytest.fixture(scope="session")
def seed() -> Investigation:
    target = open_target(str(INCIDENTS / "kimi-k26-pp8"), io.StringIO())
    return investigate(target, discover(), brain=brain_of("rules"), planner=make_plan)
