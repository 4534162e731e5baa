import pytest
from model_samples import LAB_ASYNC, LAB_BURSTS, LAB_LIMIT_2, SEED_LEVELS, lab

from ppagent.model.fill import read_fill
from ppagent.model.levels import Level, level_from_throughput
from ppagent.model.readings import (
    FEW_SLOTS,
    FORCED,
    LOGGED,
    ONE_SLOT,
    OWN_SLOTS,
    OWN_SLOTS_SLOW_STAGE,
    RunningPerSlot,
    Verdict,
)
from ppagent.model.slots import filled_slots, served_levels


def verdicts(report: object) -> dict[str, Verdict]:
    return {reading.hypothesis: reading.verdict for reading in report.readings}  # type: ignore[attr-defined]


def test_three_levels_of_the_seed_lie_on_one_line_and_reject_own_slots() -> None:
    report = read_fill(SEED_LEVELS, 8)
    assert report.line is not None
    assert report.line.base_ms == pytest.approx(34.1, abs=0.1)
    assert report.line.per_request_ms == pytest.approx(6.18, abs=0.02)
    assert report.line.worst_residual == pytest.approx(0.005, abs=0.001)
    assert verdicts(report) == {
        ONE_SLOT: Verdict.FITS,
        FEW_SLOTS: Verdict.FITS,
        OWN_SLOTS: Verdict.REJECTED,
        OWN_SLOTS_SLOW_STAGE: Verdict.REJECTED,
    }


def test_the_rejected_readings_carry_their_numbers() -> None:
    report = read_fill(SEED_LEVELS, 8)
    own, slow = report.reading(OWN_SLOTS), report.reading(OWN_SLOTS_SLOW_STAGE)
    assert own is not None
    assert slow is not None
    assert "98.8 tok/s (measured 68.3, -31%)" in own.says
    assert "197.6 tok/s (measured 95.6, -52%)" in own.says
    assert "C=4 would give 95.6 tok/s (measured 68.3)" in slow.says


def test_the_levels_leave_one_to_two_slots_open_and_say_so() -> None:
    report = read_fill(SEED_LEVELS, 8)
    few = report.reading(FEW_SLOTS)
    assert (report.fill_low, report.fill_high) == (1.0, 2.0)
    assert few is not None
    assert "do not exclude" in few.says


def test_two_to_three_running_requests_a_slot_disagree_with_the_levels() -> None:
    report = read_fill(SEED_LEVELS, 8, RunningPerSlot(2, 3))
    logged = report.reading(LOGGED)
    assert report.disagree is True
    assert logged is not None
    assert (logged.fill_low, logged.fill_high) == (pytest.approx(8 / 3), 4.0)
    assert "if they were seen at C=8" in logged.says


def test_the_same_figure_seen_at_four_requests_agrees() -> None:
    assert read_fill(SEED_LEVELS, 8, RunningPerSlot(2, 3, concurrency=4)).disagree is False


@pytest.mark.parametrize(("rows", "slots", "filled"), [(LAB_ASYNC, 8, 1.0), (LAB_BURSTS, 8, 2.0)])
def test_the_fill_of_the_recordings_lies_in_the_range(
    rows: tuple[dict[str, float], ...], slots: int, filled: float
) -> None:
    report = read_fill(lab(rows), slots)
    assert report.fill_low <= filled <= report.fill_high < 3
    assert verdicts(report)[OWN_SLOTS] is Verdict.REJECTED


def test_a_slot_limit_forces_a_fill_that_the_levels_need_not_show() -> None:
    report = read_fill(lab(LAB_LIMIT_2), 4, slot_limit=2)
    forced = report.reading(FORCED)
    assert (report.fill_low, report.fill_high) == (4.0, 4.0)
    assert forced is not None
    assert "at least 4 of 4 slots" in forced.says


def test_requests_in_slots_of_their_own_show_as_a_flat_turn() -> None:
    levels = tuple(level_from_throughput(at, 25.0 * at) for at in (1, 4, 8))
    report = read_fill(levels, 8)
    assert verdicts(report)[OWN_SLOTS] is Verdict.FITS
    assert report.fill_high == 8.0


def test_two_levels_cannot_tell_one_slot_from_a_few() -> None:
    report = read_fill(SEED_LEVELS[:2], 8)
    assert verdicts(report)[ONE_SLOT] is Verdict.CANNOT_TELL
    assert (report.fill_low, report.fill_high) == (1.0, 4.0)


def test_one_level_tells_nothing_and_is_no_error() -> None:
    report = read_fill(SEED_LEVELS[:1], 8)
    assert report.line is None
    assert verdicts(report) == {ONE_SLOT: Verdict.CANNOT_TELL}


def test_of_two_levels_that_ran_as_many_requests_the_shorter_turn_stands() -> None:
    levels = (Level(8, 60.0, "itl"), Level(16, 64.0, "itl"), Level(24, 62.0, "itl"))
    assert [(level.concurrency, level.turn_ms) for level in served_levels(levels, 8, 1)] == [(8, 60.0)]


def test_a_limit_forces_requests_apart_no_further_than_there_are_slots() -> None:
    assert [filled_slots(requests, 1.0, 4, 2) for requests in (1, 3, 5, 40)] == [1, 2, 3, 4]
    assert filled_slots(8, 3.5, 4, 8) == 3.5
