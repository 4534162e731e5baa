import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.trials.noise import Comparison, Sample, compare

QUIET = 0.002
LOOKS = 4
TRIALS = 400


def quiet(*values: float) -> list[Sample]:
    return [Sample(value, QUIET) for value in values]


def test_a_large_gain_is_better_after_one_round_and_a_large_loss_worse() -> None:
    assert compare(quiet(100, 101), quiet(187)).outcome == "better"
    assert compare(quiet(100, 101), quiet(80)).outcome == "worse"


def test_one_round_cannot_prove_that_there_is_no_difference() -> None:
    found = compare(quiet(100, 100), quiet(100))
    assert found.outcome == "cannot tell"
    assert found.rounds_more is not None
    assert found.low_share < -0.05 < 0.05 < found.high_share


def test_two_quiet_rounds_prove_that_any_difference_is_small() -> None:
    found = compare(quiet(100, 100.4, 99.8), quiet(100.2, 99.9))
    assert found.outcome == "no difference"
    assert -0.05 < found.low_share < found.gain_share < found.high_share < 0.05
    assert "any difference is under 5%" in found.why
    assert found.rounds_more is None


def test_a_sure_gain_below_the_margin_is_none_that_matters_and_above_a_smaller_margin_one() -> None:
    rounds = (quiet(100, 100.1, 99.9, 100), quiet(102, 102.1, 101.9))
    assert compare(*rounds).outcome == "no difference"
    assert compare(*rounds, margin=0.01).outcome == "better"


def test_noisy_rounds_say_how_many_more_would_decide() -> None:
    found = compare(quiet(100, 102, 100), quiet(102, 103))
    assert found.outcome == "cannot tell"
    assert found.rounds_more is not None
    assert found.rounds_more >= 1
    assert "could hide" in found.why


def test_a_machine_that_slows_down_all_the_time_makes_no_setting_worse() -> None:
    values = [100.0, 97.0, 94.1, 91.3, 88.5]
    assert compare(quiet(*values[::2]), quiet(*values[1::2])).outcome == "no difference"


def test_old_runs_that_lie_apart_leave_one_round_undecided() -> None:
    found = compare(quiet(100, 120), quiet(118))
    assert found.noise_share >= 0.19
    assert found.outcome == "cannot tell"
    assert compare(quiet(100, 120), quiet(220)).outcome == "better"


def test_a_run_too_short_to_show_its_scatter_proves_no_small_difference() -> None:
    assert compare([Sample(100, None)], quiet(110)).outcome == "cannot tell"
    assert compare([Sample(100, None)], [Sample(210, None)]).outcome == "better"


def test_runs_too_short_to_show_their_scatter_are_told_apart_by_how_they_repeat() -> None:
    old, new = [Sample(value, None) for value in (100, 101, 99)], [Sample(value, None) for value in (150, 152)]
    assert compare(old, new, looks=LOOKS).outcome == "better"


def test_each_further_look_costs_some_confidence() -> None:
    rounds = (quiet(100, 101, 99), quiet(100, 101))
    assert compare(*rounds, looks=8).noise_share > compare(*rounds, looks=1).noise_share


@given(st.floats(1, 1e4), st.floats(0.1, 10), st.floats(0, 0.2), st.floats(0, 0.2), st.floats(0.01, 0.3))
def test_the_verdict_follows_from_the_interval(
    before: float, ratio: float, one: float, two: float, margin: float
) -> None:
    found = compare([Sample(before, one)], [Sample(before * ratio, two)], margin=margin)
    assert found.low_share <= found.gain_share <= found.high_share
    match found.outcome:
        case "better":
            assert found.low_share > 0
            assert found.high_share >= margin
        case "worse":
            assert found.high_share < 0
        case "no difference":
            assert -margin < found.low_share
            assert found.high_share < margin
        case "cannot tell":
            assert found.low_share <= 0 <= found.high_share


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [1.0]), ([0.0], [1.0]), ([1.0, 1.0, 1.0], [1.0]), ([1.0, 1.0], [1.0, 1.0]), ([1.0], [1.0, 1.0])],
)
def test_what_was_not_measured_in_turns_cannot_be_compared(before: list[float], after: list[float]) -> None:
    with pytest.raises(ValueError, match="measured|turns"):
        compare(quiet(*before), quiet(*after))


def trial(draw: random.Random, effect: float, within: float, between: float, memory: float, drift: float) -> Comparison:
    """One experiment on a machine whose true gain is `effect`: blocks scatter by `within` and remember their last by
    `memory`, whole measurements scatter by `between` and drift."""
    phases: list[Sample] = []
    last = 0.0

    def measure(new: bool) -> None:
        nonlocal last
        level = (1 + effect * new) * math.exp(draw.gauss(0, between) + drift * len(phases))
        blocks = []
        for _ in range(4):
            last = memory * last + math.sqrt(1 - memory**2) * draw.gauss(0, within)
            blocks.append(level * (1 + last))
        mean = math.fsum(blocks) / 4
        variance = math.fsum((block - mean) ** 2 for block in blocks) / 3
        phases.append(Sample(mean, math.sqrt(variance / 4) / mean, tuple(blocks)))

    measure(False)
    while True:
        measure(True)
        measure(False)
        found = compare(phases[::2], phases[1::2], looks=LOOKS)
        if found.outcome != "cannot tell" or len(phases) > 2 * LOOKS:
            return found


def shares(effect: float, within: float, between: float, memory: float = 0.0, drift: float = 0.0) -> dict[str, float]:
    draw = random.Random(20)
    counted = Counter(trial(draw, effect, within, between, memory, drift).outcome for _ in range(TRIALS))
    return {outcome: counted[outcome] / TRIALS for outcome in ("better", "worse", "no difference", "cannot tell")}


@pytest.mark.parametrize(
    ("within", "between", "memory", "drift"),
    [(0.02, 0, 0, 0), (0.05, 0, 0, 0), (0.02, 0.01, 0, 0), (0.02, 0.03, 0, 0), (0.03, 0, 0.5, 0), (0.02, 0, 0, 0.01)],
)
def test_of_twenty_changes_that_do_nothing_at_most_one_is_called_better_or_worse(
    within: float, between: float, memory: float, drift: float
) -> None:
    found = shares(0.0, within, between, memory, drift)
    # 5 % is the promise; three standard errors of so many trials are 3 %.
    assert found["better"] + found["worse"] <= 0.05 + 0.03


@pytest.mark.parametrize(("within", "between", "memory"), [(0.02, 0.005, 0), (0.03, 0.02, 0), (0.03, 0, 0.5)])
@pytest.mark.parametrize("effect", [0.0527, -0.05])
def test_of_twenty_changes_that_matter_at_most_one_is_called_no_difference(
    effect: float, within: float, between: float, memory: float
) -> None:
    assert shares(effect, within, between, memory)["no difference"] <= 0.05 + 0.02


def test_on_a_quiet_server_a_useless_change_is_found_to_make_no_difference() -> None:
    assert shares(0.0, 0.02, 0.003)["no difference"] >= 0.95


def test_a_change_that_helps_is_found_better_even_on_a_noisy_one() -> None:
    assert shares(0.3, 0.06, 0.02)["better"] >= 0.95
    assert shares(0.06, 0.02, 0.003)["better"] >= 0.95


@pytest.mark.parametrize(("effect", "within", "between"), [(0.0, 0.08, 0), (0.0, 0.02, 0.03), (0.06, 0.04, 0.04)])
def test_where_it_could_not_tell_measurements_as_long_as_it_says_decide_four_times_out_of_five(
    effect: float, within: float, between: float
) -> None:
    draw, told = random.Random(5), Counter[bool]()
    while told.total() < 150:
        found = trial(draw, effect, within, between, 0.0, 0.0)
        if found.more is not None:
            calmer = math.sqrt(max(1.0, found.more.times))  # as scatter falls with the square root of the time
            again = trial(draw, effect, within / calmer, between / calmer, 0.0, 0.0)
            told[again.outcome != "cannot tell"] += 1
    assert told[True] / told.total() >= 0.8
