import pytest
from model_samples import LAB_ASYNC, LAB_BURSTS, LAB_LIMIT_2, SEED_LEVELS, lab

from ppagent.model.fill import read_fill
from ppagent.model.levels import Level, level_from_throughput
from ppagent.model.slots import filled_slots, served_levels


def test_three_levels_of_the_seed_lie_on_one_line_and_leave_one_to_two_slots_open() -> None:
    report = read_fill(SEED_LEVELS, 8)
    assert report.line is not None
    assert report.line.base_ms == pytest.approx(34.1, abs=0.1)
    assert report.line.per_request_ms == pytest.approx(6.18, abs=0.02)
    assert report.line.worst_residual == pytest.approx(0.005, abs=0.001)
    assert (report.fill_low, report.fill_high) == (1.0, 2.0)


@pytest.mark.parametrize(("rows", "slots", "filled"), [(LAB_ASYNC, 8, 1.0), (LAB_BURSTS, 8, 2.0)])
def test_the_fill_of_the_recordings_lies_in_the_range(
    rows: tuple[dict[str, float], ...], slots: int, filled: float
) -> None:
    report = read_fill(lab(rows), slots)
    assert report.fill_low <= filled <= report.fill_high < 3


def test_a_slot_limit_forces_a_fill_that_the_levels_need_not_show() -> None:
    report = read_fill(lab(LAB_LIMIT_2), 4, slot_limit=2)
    assert (report.fill_low, report.fill_high) == (4.0, 4.0)


def test_requests_in_slots_of_their_own_show_as_a_flat_turn() -> None:
    levels = tuple(level_from_throughput(at, 25.0 * at) for at in (1, 4, 8))
    report = read_fill(levels, 8)
    assert report.fill_high == 8.0


def test_two_levels_cannot_tell_one_slot_from_a_few() -> None:
    report = read_fill(SEED_LEVELS[:2], 8)
    assert (report.fill_low, report.fill_high) == (1.0, 4.0)


def test_one_level_tells_nothing_and_is_no_error() -> None:
    report = read_fill(SEED_LEVELS[:1], 8)
    assert report.line is None
    assert (report.fill_low, report.fill_high) == (1.0, 1.0)


def test_of_two_levels_that_ran_as_many_requests_the_shorter_turn_stands() -> None:
    levels = (Level(8, 60.0, "itl"), Level(16, 64.0, "itl"), Level(24, 62.0, "itl"))
    assert [(level.concurrency, level.turn_ms) for level in served_levels(levels, 8, 1)] == [(8, 60.0)]


def test_a_limit_forces_requests_apart_no_further_than_there_are_slots() -> None:
    assert [filled_slots(requests, 1.0, 4, 2) for requests in (1, 3, 5, 40)] == [1, 2, 3, 4]
    assert filled_slots(8, 3.5, 4, 8) == 3.5
