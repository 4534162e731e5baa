import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import equal_ring

from ppagent.model.ring import Ring, Stage
from ppagent.model.timeline import draw_timeline, timeline_at, timeline_of


def cells(rows: list[str]) -> list[str]:
    return [row.split("|")[1] for row in rows]


def test_one_filled_slot_walks_down_the_stages_and_comes_round_again() -> None:
    rows = draw_timeline(timeline_of(equal_ring(4, 10), 1, 4), span_ms=60, columns=76)
    assert cells(rows) == [
        "0" * 10 + "." * 30 + "0" * 10 + "." * 10,
        "." * 10 + "0" * 10 + "." * 30 + "0" * 10,
        "." * 20 + "0" * 10 + "." * 30,
        "." * 30 + "0" * 10 + "." * 20,
    ]
    assert all(row.endswith("|  25%") for row in rows)


def test_filled_slots_keep_every_stage_at_work_at_all_times() -> None:
    rows = cells(draw_timeline(timeline_of(equal_ring(4, 10), 4, 4), span_ms=80, columns=96))
    assert rows[0] == ("0" * 10 + "1" * 10 + "2" * 10 + "3" * 10) * 2
    assert rows[3] == ("1" * 10 + "2" * 10 + "3" * 10 + "0" * 10) * 2


def test_no_column_shows_one_slot_in_two_stages() -> None:
    rows = cells(draw_timeline(timeline_of(equal_ring(4, 10), 3, 3), span_ms=100))
    for column in zip(*rows, strict=True):
        working = [cell for cell in column if cell != "."]
        assert len(working) == len(set(working))


def test_the_launch_on_the_cpu_delays_a_pass_and_is_no_work() -> None:
    stages = (Stage(10, host_ms=15), Stage(10, host_ms=15))
    found = timeline_of(Ring(stages, hop_ms=1), 1, 1)
    assert found.start_ms == (0, 16)
    assert found.pass_ms == (10, 10)
    assert found.busy == pytest.approx((10 / found.turn_ms,) * 2)


def test_slots_come_one_occupancy_apart_where_the_cpu_paces_the_ring() -> None:
    """A stage whose launch takes 8 ms cannot take the next slot after the 5 ms of its device."""
    found = timeline_of(Ring((Stage(5, host_ms=8),) * 4), 4, 4)
    first_stage = [each.start_ms for each in found.passes(32) if each.stage == 0]
    assert found.turn_ms == pytest.approx(32)
    assert first_stage == pytest.approx([0, 8, 16, 24])


def test_a_known_turn_is_divided_by_shares() -> None:
    found = timeline_at((1, 3), 40, filled=1, requests=8)
    assert found.pass_ms == (10, 30)
    assert found.start_ms == (0, 10)
    assert found.tokens_per_s == 200


def test_a_stage_that_paces_the_ring_is_busy_all_the_time() -> None:
    found = timeline_at((1, 3), 40, filled=2, requests=8)
    assert found.busy == pytest.approx((1 / 3, 1))


shares = st.lists(st.floats(0.01, 10), min_size=1, max_size=9)


@given(shares, st.floats(0.1, 1e5), st.integers(1, 12), st.floats(0.1, 3))
def test_no_stage_takes_two_micro_batches_at_once_and_blocks_add_up(
    split: list[float], turn_ms: float, filled: int, turns: float
) -> None:
    found = timeline_at(split, turn_ms, filled, filled)
    span_ms = turns * turn_ms
    passes = list(found.passes(span_ms))
    assert all(0 <= each.start_ms < each.end_ms <= span_ms for each in passes)
    for stage in range(len(split)):
        own = sorted((each.start_ms, each.end_ms) for each in passes if each.stage == stage)
        assert all(end <= start + 1e-6 * turn_ms for (_, end), (start, _) in zip(own, own[1:], strict=False))


@given(shares, st.integers(1, 12))
def test_over_a_whole_turn_a_stage_is_taken_for_its_busy_share(split: list[float], filled: int) -> None:
    found = timeline_at(split, 100, filled, filled)
    for stage, busy in enumerate(found.busy):
        taken_ms = sum(each.end_ms - each.start_ms for each in found.passes(100) if each.stage == stage)
        assert taken_ms == pytest.approx(100 * busy, rel=1e-6)
