"""The way from the ceiling down to what was observed, priced by the forecasts that proposals have."""

import io
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.changes.waterfall import waterfall
from ppagent.evidence.facts import Facts
from ppagent.model.waterfall import Step
from ppagent.plugins import discover
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


def left_over(steps: tuple[Step, ...]) -> float:
    """How far the steps between the first and the last miss what they lead to."""
    return abs(sum(step.value for step in steps[:-1]) - steps[-1].value)


@lru_cache
def looked_at(name: str) -> Investigation:
    target = open_target(str(INCIDENTS / name), io.StringIO())
    return investigate(target, discover(), brain=brain_of("rules"), planner=make_plan)


def test_the_seeds_steps_lead_to_what_was_observed_over_the_forecast_of_its_first_step() -> None:
    found = looked_at("kimi-k26-pp8")
    steps = {step.step: step.value for step in waterfall(("CG001", "PP001"), found.facts)}
    assert left_over(waterfall(("CG001", "PP001"), found.facts)) <= 0.05
    assert steps["observed"] == 95.6
    first = next(p.predicted for p in found.plan.proposals if p.predicted is not None)
    assert -steps["PP001"] == pytest.approx((first.low * first.high) ** 0.5 - 95.6, abs=0.2)


def test_requests_that_wait_for_a_slot_have_their_step() -> None:
    facts = looked_at("pp003-limit-left-behind").facts
    steps = waterfall(("PP003",), facts)
    waiting = next(step for step in steps if step.step == "PP003")
    assert waiting.value < -100
    assert left_over(steps) <= 0.05


def test_a_server_that_was_not_measured_has_none() -> None:
    assert waterfall(("PP001",), looked_at("pp008-stage-hangs").facts) == ()


def test_a_figure_above_what_the_card_can_read_is_said_and_blamed_on_no_cause() -> None:
    found = looked_at("kimi-k26-pp8")
    rows = [{"concurrency": 8, "output_throughput": 900.0}, {"concurrency": 1, "output_throughput": 120.0}]
    lied = Facts(
        replace(entry, facts={**entry.facts, "bench.levels": rows}) if "bench.levels" in entry.facts else entry
        for entry in found.evidence
    )
    steps = waterfall(("CG001", "PP001"), lied)
    assert [step.step for step in steps] == ["limit", "unexplained", "observed"]
    assert steps[1].label.startswith("faster than the card can read")
    assert left_over(steps) <= 0.05


def test_stages_that_were_timed_cost_what_their_times_say_and_not_what_their_bytes_do() -> None:
    steps = waterfall((), looked_at("healthy-pp4-loaded").facts)
    ceiling, uneven = steps[0], next(step for step in steps if step.step == "PP004")
    # By hand: busy 97, 98, 98 and 100 % of the longest, so the longest is 1.02 of the mean; by bytes it were 1.07.
    assert uneven.label == "uneven stages, by their own times"
    assert uneven.value == pytest.approx(-ceiling.value * (1 - 1 / 1.018), rel=0.3)


def test_a_cause_whose_cure_would_lose_costs_nothing_and_no_step_goes_up() -> None:
    found = looked_at("dense-few-requests")
    steps = {step.step: step for step in waterfall(("PP001",), found.facts)}
    # By hand: the ceiling of 203.2 less the 192.1 that were measured; filled slots would do less, 187 by their bytes.
    assert [step.value for step in steps.values()] == [203.2, -11.1, 0.0, 0.0, 192.1]
    assert steps["PP001"].label == "micro-batches unfilled: costs nothing at this load"
    assert (steps["PP001"].blamed, steps["PP004"].blamed) == (True, False)


@pytest.mark.parametrize("name", ["dense-few-requests", "cp003-wrong-sockets", "both-one-slot-and-a-hot-card"])
def test_steps_below_the_ceiling_never_look_like_a_gain(name: str) -> None:
    steps = looked_at(name).plan.waterfall
    assert left_over(steps) <= 0.051
    assert all(step.value <= 0.1 for step in steps[1:-1])
