"""One rank: its window taken apart to the microsecond."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import event, packed, summary, trace_of

from ppagent.errors import ToolError
from ppagent.profile import reader as module
from ppagent.profile.reader import read_rank

SEND = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def mark(name: str, begin_us: float, took_us: float) -> dict[str, object]:
    return event("user_annotation", name, begin_us, took_us)


RUNS = [mark("run_batch", begin, 300.0) for begin in (0.0, 1000.0, 2000.0, 3000.0)]


def test_the_window_is_taken_apart_without_a_rest() -> None:
    read = summary(
        *RUNS,
        mark("get_next_batch_to_run", 400, 100),
        event("kernel", "gemm", 100, 100, device=3, stream=7),
        event("kernel", "norm", 150, 100, device=3, stream=9),
        event("kernel", REDUCE, 240, 60, device=3),
        event("kernel", SEND, 280, 100, device=3),
        event("kernel", "gemm", 2900, 400, device=3),
        event("gpu_user_annotation", "run_batch", 0, 3000),
        event("gpu_memcpy", "Memcpy DtoH", 500, 400),
    )
    assert (read.kernels, read.devices, list(read.edges)) == (5, ("3",), [0, 1000000, 2000000, 3000000])
    found = read.whole
    assert (found.window_ms, found.steps) == (3.0, 3)
    assert found.busy_ms == pytest.approx(0.3)
    assert found.collectives_ms == pytest.approx(0.05)
    assert found.waiting_ms == pytest.approx(0.08)
    assert found.inside_ms == pytest.approx(0.7)
    assert found.scheduling_ms == pytest.approx(0.1)
    assert found.inside_ms is not None and found.outside_ms is not None
    assert found.busy_ms + found.waiting_ms + found.inside_ms + found.outside_ms == pytest.approx(found.window_ms)
    assert found.host_ms == {"run_batch": pytest.approx(0.9), "get_next_batch_to_run": pytest.approx(0.1)}


def test_without_any_mark_gaps_cannot_be_told_apart() -> None:
    found = summary(event("kernel", "gemm", 0, 100), event("kernel", "gemm", 300, 100)).whole
    assert (found.window_ms, found.busy_ms, found.steps) == (pytest.approx(0.4), pytest.approx(0.2), 0)
    assert (found.inside_ms, found.outside_ms, found.scheduling_ms) == (None, None, None)


def test_marks_of_the_model_runner_stand_in_for_those_of_the_loop() -> None:
    steps = [mark("step[DECODE bs=8]", begin, 100) for begin in (0, 1000, 2000)]
    read = summary(*steps, event("kernel", "gemm", 500, 1000))
    found = read.whole
    assert (found.window_ms, found.inside_ms, found.outside_ms) == (2.0, pytest.approx(0.1), pytest.approx(0.9))
    assert found.scheduling_ms is None and read.modes == {"DECODE": 3}


def test_the_scheduler_s_own_marks_count_where_the_loop_has_none_and_not_beside_them() -> None:
    inner = [mark("scheduler.run_batch", begin + 10.0, 280.0) for begin in (0, 1000, 2000, 3000)]
    both = summary(*RUNS, *inner, event("kernel", "gemm", 500, 100))
    assert (both.whole.steps, both.whole.host_ms) == (3, {"run_batch": pytest.approx(0.9)})
    alone = summary(*inner, mark("scheduler.process_batch_result", 500, 100), event("kernel", "gemm", 700, 2000))
    assert alone.whole.steps == 3 and alone.whole.scheduling_ms == pytest.approx(0.1)
    assert set(alone.whole.host_ms) == {"run_batch", "process_batch_result"}


def test_a_trace_of_the_host_alone_has_no_kernels_and_still_tells_what_the_host_did() -> None:
    read = summary(*RUNS, event("cpu_op", "aten::mm", 0, 900))
    found = read.whole
    assert (read.kernels, found.busy_ms, found.waiting_ms, found.steps) == (0, 0.0, 0.0, 3)
    assert found.host_ms == {"run_batch": pytest.approx(0.9)}


def launches(begin_us: float, count: int) -> list[dict[str, object]]:
    return [event("cuda_runtime", "cudaLaunchKernel", begin_us + n, 0.5) for n in range(count)]


def test_prefills_are_no_eager_decode_steps_where_marks_name_them() -> None:
    found = summary(
        mark("step[EXTEND bs=2 toks=900]", 0, 200), *launches(10, 90),
        mark("step[DECODE bs=2]", 1000, 200), event("cuda_runtime", "cudaGraphLaunch", 1010, 9), *launches(1030, 3),
        mark("step[DECODE bs=40]", 2000, 200), *launches(2010, 60),
    )  # fmt: skip
    assert (found.tally.told, found.tally.graph, found.tally.eager) == (True, 1, 1)
    assert (found.tally.eager_launches, found.tally.graph_launches) == (60, 3)
    assert (found.tally.graph_batches, found.tally.eager_batches) == ((2, 2), (40, 40))


def test_without_modes_every_forward_counts_and_without_marks_every_burst_of_launches() -> None:
    marked = summary(*RUNS, *launches(10, 50), event("cuda_runtime", "cudaGraphLaunch", 1010, 9), *launches(2010, 4))
    assert (marked.tally.told, marked.tally.graph, marked.tally.eager) == (False, 1, 1)
    bare = summary(*launches(0, 50), *launches(2000, 70), *launches(5000, 3))
    assert (bare.tally.eager, bare.tally.eager_launches) == (2, 60)
    graphs = summary(*(event("cuda_runtime", "cudaGraphLaunch", at, 9) for at in (0, 1000, 2000)), *launches(500, 30))
    assert (graphs.tally.graph, graphs.tally.eager) == (3, 0)


def test_the_rank_of_the_process_group_is_read_from_the_header() -> None:
    assert summary(*RUNS, distributedInfo={"backend": "nccl", "rank": 5, "world_size": 8}).global_rank == 5
    for odd in ({"rank": True}, {"rank": -1}, {"rank": "5"}, [], 7):
        assert summary(*RUNS, distributedInfo=odd).global_rank is None


def test_a_part_of_the_time_is_whole_periods_of_it() -> None:
    read = summary(*RUNS, event("kernel", "gemm", 1500, 1000), baseTimeNanoseconds=10**18)
    found = read.over(10**18 + 900_000, 10**18 + 2_999_999)
    assert (found.steps, found.window_ms, found.busy_ms) == (1, 1.0, pytest.approx(0.5))
    assert read.over(10**18 + 100, 10**18 + 200).steps == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"ts": "soon", "dur": 1}, {"ts": 1e300, "dur": 1}, {"ts": 1, "dur": -4}, {"ts": 1, "dur": 1e18},
        {"ts": True, "dur": 1}, {"ts": None, "dur": None}, {"dur": 3},
    ],
)  # fmt: skip
def test_an_event_whose_time_can_be_none_is_counted_and_left_out(odd: dict[str, object]) -> None:
    found = summary(*RUNS, {"ph": "X", "cat": "kernel", "name": "gemm", **odd})
    assert (found.kernels, found.unread) == (0, 1)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_time_that_is_no_number_is_left_out(number: str) -> None:
    sound = '{"ph": "X", "cat": "kernel", "name": "a", "ts": 5, "dur": 2}'
    odd = sound.replace('"ts": 5', f'"ts": {number}')
    assert read_rank(packed(f'{{"traceEvents": [{sound}, {odd}]}}'), "t").unread == 1


def test_events_of_other_forms_are_left_alone() -> None:
    found = summary(
        *RUNS, {}, {"ph": "M", "name": "process_name"}, {"ph": "X"},
        {"ph": "X", "cat": 7, "name": "x", "ts": 1, "dur": 1},
        {"ph": "X", "cat": "kernel", "name": None, "ts": 1, "dur": 1}, {"ph": "s", "cat": "ac2g", "ts": 4},
        event("user_annotation", "anything else", 0, 3), event("kernel", "gemm", 0, 1, device="0"),
    )  # fmt: skip
    assert (found.kernels, found.devices, found.unread) == (1, (), 0)


def test_a_trace_in_which_nothing_takes_time_is_no_trace() -> None:
    with pytest.raises(ToolError, match="holds no event that takes time"):
        read_rank(trace_of({"ph": "M", "name": "process_name"}), "t")


def test_marks_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MARKS", 3)
    with pytest.raises(ToolError, match="more than 3 marked stretches"):
        summary(*RUNS)


TIMES = st.tuples(st.integers(0, 4000), st.integers(0, 700))


@settings(max_examples=80, deadline=None)
@given(st.lists(TIMES, max_size=15), st.lists(TIMES, max_size=8), st.lists(TIMES, max_size=6))
def test_the_parts_make_up_the_window_whatever_runs(
    work: list[tuple[int, int]], sends: list[tuple[int, int]], reduces: list[tuple[int, int]]
) -> None:
    kernels = [("gemm", w) for w in work] + [(SEND, s) for s in sends] + [(REDUCE, r) for r in reduces]
    found = summary(*RUNS, *(event("kernel", name, at, took) for name, (at, took) in kernels)).whole
    if not kernels:
        return
    assert found.inside_ms is not None and found.outside_ms is not None
    parts = (found.busy_ms, found.waiting_ms, found.inside_ms, found.outside_ms)
    assert all(part >= 0 for part in parts)
    assert sum(parts) == pytest.approx(found.window_ms)
    assert found.collectives_ms <= found.busy_ms + 1e-9
