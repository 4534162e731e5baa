"""In whatever order a model asks, code comes to the same causes and the same changes."""

import random

import pytest

from tests.brains.models import FIRST_LOOK, SECOND_LOOK, scripted
from tests.brains.runs import INCIDENTS_FOLDER, SEED, by_model, by_rules, code_changes, states

CASES = [SEED, INCIDENTS_FOLDER / "lab-pp8-a", INCIDENTS_FOLDER / "healthy-pp4-loaded"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("recording", CASES, ids=lambda path: path.name)
def test_the_order_of_questions_changes_no_diagnosis(recording: object, seed: int) -> None:
    tools = [*FIRST_LOOK, *SECOND_LOOK, "host.kernel", "host.environment", "host.packages", "gpu.processes"]
    random.Random(seed).shuffle(tools)
    asked = scripted([("look", {"tools": tools, "why": ""})], [("finish", {})])

    rules, found = by_rules(recording), by_model(recording, asked)  # type: ignore[arg-type]

    assert found.verdict == rules.verdict
    assert {c for c, s in states(found).items() if s == "supported"} == {
        c for c, s in states(rules).items() if s == "supported"
    }
    assert all(change in code_changes(found) for change in code_changes(rules))
