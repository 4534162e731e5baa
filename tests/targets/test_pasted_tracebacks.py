"""Tracebacks, dumps and argument lines as they come out of terminals, containers and issue forms."""

import pytest

from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact

FRAMES = (
    "[2025-02-09 21:23:00 TP2] Scheduler hit an exception: Traceback (most recent call last):",
    'File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 1787, in run_scheduler_process',
    "scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, dp_rank)",
    "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)",
)


def log_of(text: str) -> list[str]:
    return read_pasted(text).text("pasted", Artifact.SERVER_LOG).splitlines()


def test_a_traceback_that_lost_its_indentation_stays_whole() -> None:
    assert log_of("\n".join(FRAMES)) == list(FRAMES)


@pytest.mark.parametrize("carrier", ["sglang-1  | ", "2025-07-25T07:53:08.217488644+08:00 stdout F "])
def test_a_traceback_behind_a_carriers_prefix_stays_whole(carrier: str) -> None:
    indented = [FRAMES[0], f"  {FRAMES[1]}", f"    {FRAMES[2]}", FRAMES[3]]
    wrapped = [f"{carrier}{line}" for line in indented]
    assert log_of("\n".join(["It died:", *wrapped, "What now?"])) == wrapped


def test_a_py_spy_dump_is_log_and_the_sentence_above_it_is_not() -> None:
    dump = ['Thread 88692 (idle): "MainThread"', "    _pp_recv_proxy_tensors (scheduler_pp_mixin.py:933)"]
    assert log_of("\n".join(["The stage that waits:", "", *dump])) == dump


@pytest.mark.parametrize(
    "line",
    [
        "sglang: error: argument --attention-backend: invalid choice: 'torch_sdpa' (choose from 'triton', 'fa3')",
        "sglang serve: error: unrecognized arguments: --enable-reasoning",
        " [rank3]:[E227 16:30:43 ProcessGroupNCCL.cpp:1834] [PG ID 2 PG GUID 3 Rank 3] Timeout at NCCL work: 32",
    ],
)
def test_refusals_and_ranks_without_a_time_of_sglangs_are_log(line: str) -> None:
    assert log_of(line) == [line]


def test_arguments_that_a_terminal_broke_are_put_together() -> None:
    whole = "[2025-02-18 09:33:55] server_args=ServerArgs(model_path='meta/Llama', tokenizer_path='m', tp_size=2)"
    broken = [whole[:70], whole[70:97], whole[97:]]
    after = "[2025-02-18 09:34:05 TP0] Init torch distributed begin."
    assert log_of("\n".join([*broken, after])) == [whole, after]


def test_arguments_that_were_cut_for_good_swallow_nothing() -> None:
    cut = "[2025-03-18 15:24:52] server_args=ServerArgs(model_path='/m/QwQ-32B', served_model"
    error = "RuntimeError: CUDA error: invalid device ordinal"
    assert log_of("\n".join([cut, error])) == [cut, error]
    assert log_of("\n".join([cut, "", "We use tp=2 here."])) == [cut]


def test_a_piece_out_of_a_tracebacks_middle_is_log() -> None:
    piece = [f"  {FRAMES[1]}", f"    {FRAMES[2]}", "AssertionError: no"]
    assert log_of("\n".join(["It says:", *piece])) == piece
