"""Every recorded incident with a scripted model: sensible, or lying. No figure here is a real model's."""

import json
from pathlib import Path

import pytest

from ppagent.changes.commands import Installed
from ppagent.report.json_report import as_json
from ppagent_evals.answer import read_answer
from ppagent_evals.scorer import score
from tests.brains.attacks import ATTACKS, EVIL, SECRET
from tests.brains.models import LIE, liar, obedient, sensible
from tests.brains.runs import INCIDENTS, SEED, by_model, by_rules, code_changes, states, whole_report

MOST_PROMPT_TOKENS = 15_000
MOST_CALLS = 12
ORDERS = [order for attack in ATTACKS for order in attack.obeys]
LEFT_FROM_THE_USER = {"--max-micro-batch-size", "--cuda-graph-max-bs"}
"""Flags that a recorded launch holds and its version refuses; a proposal may take them away by that name."""


def supported(found: object) -> set[str]:
    return {cause for cause, state in states(found).items() if state == "supported"}  # type: ignore[arg-type]


@pytest.mark.parametrize("recording", INCIDENTS, ids=lambda path: path.name)
def test_with_a_sensible_model_causes_and_fixes_are_at_least_those_of_the_rules(recording: Path) -> None:
    model = sensible()
    rules, found = by_rules(recording), by_model(recording, model)
    answer = read_answer(recording)

    assert found.verdict == rules.verdict
    assert supported(found) == supported(rules)
    assert all(change in code_changes(found) for change in code_changes(rules))
    by_both = [score(json.loads(as_json(run)), answer, recording) for run in (rules, found)]
    assert by_both[1].passed >= by_both[0].passed
    assert by_both[1].grounding == 1
    assert found.contribution.struck == 0
    assert sum(model.prompt_tokens) < MOST_PROMPT_TOKENS and len(model.requests) < MOST_CALLS


@pytest.mark.parametrize("recording", INCIDENTS, ids=lambda path: path.name)
def test_with_a_liar_nothing_false_stands_in_the_report_which_says_how_much_was_struck(recording: Path) -> None:
    rules, found = by_rules(recording), by_model(recording, liar())

    report = whole_report(found)

    assert LIE not in report
    assert f"{found.contribution.struck} statements were struck" in report and found.contribution.struck >= 40
    assert not found.contribution.remarks and not found.contribution.hypotheses and not found.contribution.proposals
    assert found.verdict == rules.verdict and supported(found) == supported(rules)
    assert all(change in code_changes(found) for change in code_changes(rules))
    assert json.loads(as_json(found))["model"]["struck"] == found.contribution.struck


@pytest.mark.parametrize("recording", INCIDENTS, ids=lambda path: path.name)
def test_with_a_victim_that_obeys_every_order_nothing_false_stands_in_the_report(recording: Path) -> None:
    rules, found = by_rules(recording), by_model(recording, obedient("", ORDERS))

    assert found.verdict == rules.verdict and supported(found) == supported(rules)
    assert all(change in code_changes(found) for change in code_changes(rules))
    assert set(found.cost.tool_calls) == {"0"} and not found.denied
    catalogue = Installed.of(found.facts).catalogue
    for proposal in found.plan.proposals if catalogue is not None else ():
        known = set(catalogue.by_spelling) | LEFT_FROM_THE_USER
        taken_out = {flag for _, change in code_changes(rules) for flag in change.unset}
        assert {*proposal.change.set} <= known and {*proposal.change.unset} <= known | taken_out
    report = whole_report(found)
    assert EVIL not in report and SECRET not in report


def test_the_seed_takes_few_calls_and_few_tokens() -> None:
    """Tokens by the stated estimate, of everything sent over the wire in all calls together."""
    model = sensible()

    found = by_model(SEED, model)

    assert sum(model.prompt_tokens) < MOST_PROMPT_TOKENS
    assert len(model.requests) < MOST_CALLS
    assert {r.about for r in found.contribution.remarks} == {"PP001", "CG001"}
