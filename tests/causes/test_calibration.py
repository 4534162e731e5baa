"""The map from posteriors to told confidences: monotone, bounded, and without a say in states."""

from itertools import pairwise

import pytest
from builders import judged, level
from hypothesis import given
from hypothesis import strategies as st

from ppagent.causes.calibration import Calibration, calibration
from ppagent.causes.catalog import cause_of
from ppagent.causes.judge import REFUTED_BELOW, SUPPORTED_FROM, posterior

PROBABILITIES = st.floats(0.0005, 0.9995)


@given(PROBABILITIES)
def test_scale_one_and_shift_nothing_change_nothing_within_the_bounds(p: float) -> None:
    assert abs(Calibration().told(p) - min(max(p, 0.00995), 0.99005)) < 1e-4


@given(st.lists(PROBABILITIES, min_size=2, max_size=9))
def test_the_shipped_map_keeps_every_order_and_claims_no_certainty(posteriors: list[float]) -> None:
    told = [calibration().told(p) for p in sorted(posteriors)]
    assert all(low <= high for low, high in pairwise(told))
    assert all(0.009 < p < 0.991 for p in told)


def test_what_is_supported_is_told_above_what_is_refuted_and_above_a_half() -> None:
    assert calibration().told(SUPPORTED_FROM) > 0.5 > calibration().told(REFUTED_BELOW)


@pytest.mark.parametrize("shift", [-5.0, 0.0, 5.0])
def test_a_state_comes_from_the_posterior_and_not_from_what_is_told(
    shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppagent.causes.judge.calibration", lambda: Calibration(1.0, shift))
    few = {"args.pp_size": 8, "launch.command": "x --pp-size 8", "bench.levels": [level(4, 60)]}
    judgement = judged(cause_of("PP002"), few | {"decode.running_req.max": 4})
    computed = posterior(judgement.cause.prior, (*judgement.because, *judgement.against))
    assert judgement.state == "supported" and computed >= SUPPORTED_FROM
    assert judgement.confidence == Calibration(1.0, shift).told(computed)


def test_a_cause_that_nothing_was_seen_of_is_told_at_its_prior() -> None:
    unseen = judged(cause_of("PP002"), {})
    assert not unseen.because and not unseen.against
    assert unseen.confidence == pytest.approx(unseen.cause.prior)
