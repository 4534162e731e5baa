from dataclasses import replace

import pytest
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, kimi_roofline, seed_server

from ppagent.model.pricing import ceiling_tokens_per_s, decode_waterfall, split_tokens_per_s
from ppagent.model.waterfall import UNEXPLAINED, adds_up

ALL = frozenset({"PP001", "PP004", "CG001"})


def test_at_eight_requests_every_cause_costs_and_all_is_explained() -> None:
    steps = decode_waterfall(seed_server(), 8, ALL)
    shares = {step.step: step.value for step in steps}
    assert adds_up(steps)
    assert shares["PP001"] < -60
    assert shares["CG001"] < -20
    assert shares["PP004"] < -60
    assert abs(shares[UNEXPLAINED]) < 3


def test_a_single_request_loses_to_launches_alone() -> None:
    shares = {step.step: step.value for step in decode_waterfall(seed_server(), 1, ALL)}
    assert shares["CG001"] < -10
    assert shares["PP001"] == shares["PP004"] == pytest.approx(0, abs=0.01)


def test_what_no_supported_cause_explains_stays_unexplained() -> None:
    steps = decode_waterfall(seed_server(), 8, frozenset({"PP001"}))
    shares = {step.step: step.value for step in steps}
    assert adds_up(steps)
    assert set(shares) == {"limit", "PP001", UNEXPLAINED, "observed"}
    assert shares[UNEXPLAINED] < -100


def test_ceilings_of_the_ring_and_of_its_split() -> None:
    roofline = kimi_roofline()
    assert ceiling_tokens_per_s(roofline, 8, 8) == pytest.approx(435, abs=1)
    assert ceiling_tokens_per_s(roofline, 8, 1) == pytest.approx(54, abs=1)
    assert split_tokens_per_s(roofline, DEFAULT_SPLIT, 8) == pytest.approx(284, abs=1)
    assert split_tokens_per_s(roofline, HEAD_AWARE_SPLIT, 8) == pytest.approx(372, abs=1)


def test_without_a_card_there_is_no_ceiling() -> None:
    with pytest.raises(ValueError, match="card"):
        decode_waterfall(replace(seed_server(), roofline=None), 8, ALL)
