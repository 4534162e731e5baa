import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import equal_ring

from ppagent.model.ring import Ring, Stage, shared_ring, turn_of


def uneven(layers: list[int], per_request_ms: float = 0.02) -> Ring:
    """Mean stage of 4 ms, split by layers."""
    share = [8 * count / sum(layers) for count in layers]
    return Ring(tuple(Stage(4 * part, per_request_ms * part) for part in share), return_ms=0.5)


def gain(ring: Ring, requests: int, filled: int = 8) -> float:
    """Throughput with `filled` slots over that with one."""
    return ring.turn_ms(1, requests) / ring.turn_ms(filled, requests)


def test_one_filled_slot_turns_in_the_sum_of_its_stages() -> None:
    ring = equal_ring(8, 40, 8)
    assert ring.turn_ms(1, 1) == pytest.approx(384)
    assert ring.turn_ms(1, 8) == pytest.approx(8 * (40 + 64))
    assert ring.tokens_per_s(1, 8) == pytest.approx(9.615, abs=0.01)


def test_the_slowest_stage_paces_a_turn_only_where_it_has_the_longer_way() -> None:
    assert turn_of((2, 3, 5), 1) == 10
    assert turn_of((2, 3, 5), 2) == 10
    assert turn_of((2, 3, 5), 3) == 15


def test_every_stage_hands_its_step_on_once_a_turn() -> None:
    ring = equal_ring(8, 40, 8, hop_ms=0.5, return_ms=2)
    assert ring.turn_ms(1, 1) == pytest.approx(384 + 8 * 0.5 + 2)


def test_a_chain_of_slow_launches_bounds_a_ring_whose_slots_are_all_filled() -> None:
    ring = Ring(tuple(Stage(1.0, 0.0, host_ms=10.0) for _ in range(4)), hop_ms=1.0, return_ms=2.0)
    # By hand: the turn of one slot is four launches of 10, four hops and the return, 46 ms; of all four slots
    # 4/3 of two launches with their hops, a step, the return and a hop, 34.7 ms, and 4 x 10 ms the slowest stage.
    assert ring.turn_ms(4, 4) == pytest.approx(46)


def test_a_full_ring_serves_a_request_a_stage_in_the_time_of_one() -> None:
    ring = equal_ring(8, 40, 8)
    assert ring.turn_ms(8, 8) == pytest.approx(384)
    assert gain(ring, 8) == pytest.approx(832 / 384)
    assert ring.best_fill(8) == 8


def test_a_dense_model_gets_busy_stages_and_hardly_more_tokens() -> None:
    ring = equal_ring(8, 4, 0.02, return_ms=0.7)
    busy_now, busy_then = ring.occupancy(1, 8)[0], ring.occupancy(8, 8)[0]
    assert busy_now == pytest.approx(0.125, abs=0.01)
    assert busy_then > 0.9
    assert 1.0 < gain(ring, 8) < 1.06


def test_experts_woken_by_each_request_make_spreading_pay() -> None:
    ring = equal_ring(8, 1, 0.25)
    assert gain(ring, 8) == pytest.approx(2.4, abs=0.1)
    assert gain(ring, 16) > gain(ring, 8)


def test_full_spreading_loses_where_one_stage_holds_the_rest_of_the_layers() -> None:
    ring = uneven([7, 7, 7, 7, 7, 7, 7, 12])
    assert ring.tokens_per_s(8, 8) == pytest.approx(158, abs=1)
    assert ring.tokens_per_s(8, 8) < 0.7 * ring.tokens_per_s(1, 8)
    assert ring.best_fill(8) < 6


def test_a_slow_first_stage_is_best_served_by_five_of_eight_slots() -> None:
    ring = uneven([12, 7, 7, 7, 7, 7, 7, 7])
    assert ring.best_fill(8) == 5
    assert ring.tokens_per_s(5, 8) > ring.tokens_per_s(1, 8) > ring.tokens_per_s(8, 8)


def test_a_second_slot_waits_for_the_difference_between_the_slowest_and_the_first_stage() -> None:
    """Measured on the real scheduler (0.5.23, emulated device): 676 -> 787 ms with the slow stage last, 694 first."""
    last = Ring((Stage(140, 2),) * 3 + (Stage(240, 2),))
    first = Ring((Stage(240, 2), *(Stage(140, 2),) * 3))
    assert last.turn_ms(2, 2) == pytest.approx(787, rel=0.03)
    assert first.turn_ms(2, 2) == pytest.approx(694, rel=0.05)
    assert last.turn_ms(4, 4) == pytest.approx(971, rel=0.01)


def test_launches_rule_a_small_batch_and_hide_behind_a_large_one() -> None:
    eager = equal_ring(8, 2, 1, host_ms=5)
    graph = equal_ring(8, 2, 1, host_ms=0.4)
    assert eager.turn_ms(1, 1) == pytest.approx(40)
    assert graph.turn_ms(1, 1) == pytest.approx(24)
    assert eager.turn_ms(1, 8) == pytest.approx(graph.turn_ms(1, 8))


def test_an_async_depth_adds_slots_and_no_speed() -> None:
    plain, deep = equal_ring(8, 40, 8), equal_ring(8, 40, 8, async_depth=2)
    assert deep.slots == 10
    assert deep.turn_ms(1, 8) == plain.turn_ms(1, 8)
    assert deep.turn_ms(8, 8) > plain.turn_ms(8, 8)


def test_the_lm_head_as_extra_time_of_the_last_stage_paces_a_full_ring() -> None:
    light = Ring((Stage(2.0),) * 8)
    heavy = Ring((*(Stage(2.0),) * 7, Stage(3.3)))
    assert heavy.tokens_per_s(8, 8) / light.tokens_per_s(8, 8) == pytest.approx(2.0 / 3.3, rel=0.01)


def test_measured_constants_split_by_shares_keep_the_turn() -> None:
    ring = shared_ring(34.1, 6.18, [7, 7, 7, 8, 8, 8, 8, 8])
    assert ring.turn_ms(1, 8) == pytest.approx(34.1 + 6.18 * 8)


@pytest.mark.parametrize(("filled", "requests"), [(0, 1), (2, 1), (9, 9)])
def test_a_fill_that_requests_or_slots_cannot_make_is_refused(filled: int, requests: int) -> None:
    with pytest.raises(ValueError, match="filled slots"):
        equal_ring(8, 1).turn_ms(filled, requests)


def test_fewer_slots_than_stages_are_refused() -> None:
    with pytest.raises(ValueError, match="slots"):
        Ring((Stage(1.0), Stage(1.0)), slots=1)


stages = st.lists(st.builds(Stage, st.floats(0.1, 50), st.floats(0, 10), st.floats(0, 20)), min_size=1, max_size=9)


@given(stages, st.integers(1, 40), st.data())
def test_no_fill_beats_the_slowest_stage_or_its_own_latency(
    parts: list[Stage], requests: int, data: st.DataObject
) -> None:
    ring = Ring(tuple(parts), hop_ms=0.1, return_ms=0.2)
    filled = data.draw(st.integers(1, min(requests, ring.slots)))
    turn_ms = ring.turn_ms(filled, requests)
    assert turn_ms >= filled * ring.slowest_ms(requests / filled) - 1e-9
    assert turn_ms >= ring.latency_ms(filled, requests) - 1e-9
    assert all(0 < share <= 1 + 1e-9 for share in ring.occupancy(filled, requests))


@given(st.integers(2, 9), st.floats(0.5, 50), st.floats(0, 10), st.integers(1, 30))
def test_the_gain_of_spreading_equal_stages_lies_between_one_and_their_number(
    count: int, base_ms: float, per_request_ms: float, requests: int
) -> None:
    ring = equal_ring(count, base_ms, per_request_ms)
    filled = min(count, requests)
    assert 1 - 1e-9 <= gain(ring, requests, filled) <= count + 1e-9
