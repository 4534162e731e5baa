import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.trials.noise import USUAL, Sample, compare

QUIET = 0.002


def test_a_gain_beyond_the_noise_is_better_and_a_loss_worse() -> None:
    before = [Sample(100, QUIET), Sample(101, QUIET)]
    assert compare(before, [Sample(187, QUIET)]).outcome == "better"
    assert compare(before, [Sample(80, QUIET)]).outcome == "worse"


def test_a_difference_within_a_narrow_band_is_none() -> None:
    found = compare([Sample(100, QUIET), Sample(101, QUIET)], [Sample(102, QUIET)])
    assert found.outcome == "no difference"
    assert found.noise_share == USUAL


def test_within_a_wide_band_nothing_can_be_told() -> None:
    found = compare([Sample(100, 0.04), Sample(101, 0.04)], [Sample(106, 0.04)])
    assert found.outcome == "cannot tell"
    assert "scatter" in found.why


def test_drift_of_the_old_setting_widens_the_band() -> None:
    found = compare([Sample(100, QUIET), Sample(120, QUIET)], [Sample(118, QUIET)])
    assert found.noise_share == pytest.approx(20 / 110)
    assert found.outcome == "cannot tell"
    assert "far apart" in found.why


def test_a_gain_larger_than_the_drift_still_counts() -> None:
    assert compare([Sample(100, QUIET), Sample(120, QUIET)], [Sample(220, QUIET)]).outcome == "better"


def test_a_run_too_short_to_show_its_scatter_proves_no_small_difference() -> None:
    assert compare([Sample(100, None)], [Sample(103, QUIET)]).outcome == "cannot tell"
    assert compare([Sample(100, None)], [Sample(210, None)]).outcome == "better"


@given(st.floats(1, 1e4), st.floats(0.1, 10), st.floats(0, 0.2), st.floats(0, 0.2))
def test_the_verdict_follows_from_gain_and_band(before: float, ratio: float, one: float, two: float) -> None:
    found = compare([Sample(before, one)], [Sample(before * ratio, two)])
    assert found.noise_share >= USUAL
    beyond = abs(found.gain_share) > found.noise_share
    assert (found.outcome in ("better", "worse")) == beyond
    if beyond:
        assert (found.outcome == "better") == (found.gain_share > 0)


def test_a_setting_that_was_not_measured_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="measured"):
        compare([], [Sample(1, 0)])
    with pytest.raises(ValueError, match="measured"):
        compare([Sample(0, 0)], [Sample(1, 0)])
