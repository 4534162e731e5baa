from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppagent.model.stage_costs import StageCosts

# Sixteen layers a stage, the third card at less than half the speed: 11, 11, 24 and 11 ms a forward.
SLOW_THIRD = StageCosts((16, 16, 16, 16), (11, 11, 24, 11))


def test_a_slow_stages_time_goes_with_its_layers() -> None:
    assert SLOW_THIRD.times_of((18, 19, 8, 19)) == pytest.approx((12.375, 13.0625, 12.0, 13.0625))
    assert sum(SLOW_THIRD.shares_of((16, 16, 16, 16))) == pytest.approx(1.0)
    assert sum(SLOW_THIRD.shares_of((18, 19, 8, 19))) == pytest.approx(50.5 / 57)


def test_the_best_split_leaves_a_slow_card_as_much_as_the_others_take() -> None:
    # By hand: T / (24/16) + 3 T / (11/16) = 64 layers gives T = 12.73 ms, so 8.5 layers there and 18.5 elsewhere.
    split = SLOW_THIRD.best_split()
    assert split is not None
    assert sum(split) == 64
    assert split[2] == 8
    assert max(SLOW_THIRD.times_of(split)) == pytest.approx(19 * 11 / 16)


def test_the_head_stays_on_the_last_stage() -> None:
    # 10 ms of layers and 10 ms of head: with 3 layers left of 5 it takes 16 ms, not 12.
    head = StageCosts((5, 5), (10, 20), head_share=0.5)
    assert head.times_of((7, 3)) == pytest.approx((14, 16))
    assert head.best_split() == (7, 3)


def test_even_stages_are_left_as_they_are() -> None:
    assert StageCosts((8, 8, 8), (5, 5, 5)).best_split() == (8, 8, 8)
    assert StageCosts((7, 8, 8), (7, 8, 8)).best_split() == (7, 8, 8)


@pytest.mark.parametrize(
    ("layers", "times", "head"), [((4,), (1, 2), 0), ((0, 4), (1, 1), 0), ((4, 4), (1, 0), 0), ((4, 4), (1, 1), 1)]
)
def test_what_cannot_be_stages_is_refused(layers: tuple[int, ...], times: tuple[float, ...], head: float) -> None:
    with pytest.raises(ValueError, match="stage"):
        StageCosts(layers, times, head)
    with pytest.raises(ValueError, match="another pipeline"):
        SLOW_THIRD.times_of((32, 32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1, 20), min_size=2, max_size=3), st.integers(3, 9), st.floats(0, 0.8))
def test_no_other_split_has_a_shorter_longest_stage(times: list[float], each: int, head: float) -> None:
    costs = StageCosts((each,) * len(times), tuple(times), head)
    total = each * len(times)
    found = costs.best_split()
    assert found is not None
    others = [split for split in product(range(1, total), repeat=len(times)) if sum(split) == total]
    assert max(costs.times_of(found)) <= min(max(costs.times_of(split)) for split in others) + 1e-9
