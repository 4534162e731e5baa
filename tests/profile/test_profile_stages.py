"""The stages together: how many work at a time, and which one paces the rest."""

import pytest
from trace_samples import event, read_ring, summary

from ppagent.profile.stages import pipeline_of
from ppagent_evals.writing.traces import Ring


def test_one_filled_slot_of_four_is_one_stage_at_work() -> None:
    found = read_ring(Ring((5.0,) * 4, filled=1, steps=16))
    assert found.effective == pytest.approx(1.0, abs=0.1)
    assert found.at_slowest == pytest.approx(4.0, abs=0.01)
    assert all(stage.waiting > 0.7 for index, stage in found.stages.items() if index)


def test_filled_slots_are_all_stages_at_work() -> None:
    found = read_ring(Ring((5.0,) * 4, filled=4, steps=32))
    assert found.effective == pytest.approx(3.7, abs=0.15)
    assert all(stage.busy > 0.9 and stage.waiting < 0.03 for stage in found.stages.values())


def test_a_slow_stage_is_busy_while_the_others_wait_for_it() -> None:
    found = read_ring(Ring((5.0, 5.0, 12.0, 5.0), filled=4, steps=32))
    assert found.stages[2].busy > 0.95
    assert all(found.stages[index].busy < 0.5 for index in (0, 1, 3))
    assert found.stages[2].busy_ms_per_step == pytest.approx(12.0, abs=0.1)
    assert found.at_slowest == pytest.approx(27 / 12, abs=0.1)


def test_kernels_launched_one_by_one_leave_gaps_inside_the_forward() -> None:
    found = read_ring(Ring((0.6,) * 4, filled=4, steps=24, graph=False, kernels=200))
    assert (found.tally.eager, found.tally.graph, found.tally.eager_launches) == (96, 0, 200)
    assert all(stage.inside is not None and stage.inside > 0.4 for stage in found.stages.values())


def test_a_slow_scheduler_leaves_gaps_outside_of_it() -> None:
    found = read_ring(Ring((1.0,) * 4, filled=4, steps=24, scheduling_ms=2.0))
    stages = found.stages.values()
    assert all(s.scheduling is not None and s.inside is not None and s.scheduling > 0.4 > s.inside for s in stages)


def test_ranks_of_one_stage_are_averaged_and_exchanges_are_counted_apart() -> None:
    found = read_ring(Ring((4.0, 4.0), filled=2, steps=16, tp=2, collective_share=0.25))
    assert {index: stage.ranks for index, stage in found.stages.items()} == {0: 2, 1: 2}
    assert found.stages[0].collectives == pytest.approx(found.stages[0].busy * 0.25, rel=0.05)


def test_an_older_version_marks_nothing_and_its_shares_are_still_known() -> None:
    found = read_ring(Ring((5.0,) * 2, filled=2, steps=16, version="0.5.5"))
    assert found.effective > 1.6
    assert all(stage.inside is None and stage.step_ms is None for stage in found.stages.values())
    assert (found.tally.told, found.tally.graph, found.tally.eager) == (False, 32, 0)


def test_prefills_are_told_from_decode_steps() -> None:
    found = read_ring(Ring((3.0,) * 2, filled=2, steps=12, prefills=4))
    assert found.modes == {"EXTEND": 8, "DECODE": 16}
    assert (found.tally.graph, found.tally.eager) == (16, 0)


def test_a_rank_that_stands_still_to_write_its_trace_does_not_make_the_others_idle() -> None:
    """The first stage is done first; the last forwards of the others wait for seconds until it has written."""
    late = 2_000_000.0
    first = [event("user_annotation", "run_batch", 1000.0 * n, 300) for n in range(8)]
    other = [event("user_annotation", "run_batch", 1000.0 * n + 500 + (late if n > 6 else 0), 300) for n in range(9)]
    work = [event("kernel", "gemm", 1000.0 * n + 500, 900) for n in range(7)]
    found = pipeline_of([(0, summary(*first, *work)), (1, summary(*other, *work))])
    assert found.together
    assert found.stages[1].busy == pytest.approx(0.9)
    assert found.stages[1].steps == 6


def test_traces_of_different_times_are_judged_each_over_its_own() -> None:
    runs = [event("user_annotation", "run_batch", 1000.0 * n, 300) for n in range(5)]
    work = [event("kernel", "gemm", 1000.0 * n, 500) for n in range(5)]
    found = pipeline_of([(0, summary(*runs, *work)), (1, summary(*runs, *work, baseTimeNanoseconds=10**18))])
    assert not found.together
    assert [stage.busy for stage in found.stages.values()] == [pytest.approx(0.5)] * 2
