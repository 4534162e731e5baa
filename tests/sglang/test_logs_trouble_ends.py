"""Lines that tell where in its life a server stopped, as tracebacks, watchdogs and libraries print them."""

import pytest

from ppagent.sglang.logs.trouble import find_trouble

SCHEDULER = '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2721, in '
RUNNER = '  File "/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py", line 253, in '


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("raised_at_start", "    scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, dp_rank)"),
        ("raised_at_start", "scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, dp_rank)"),
        ("raised_at_start", f"{RUNNER}init_torch_distributed"),
        ("raised_at_start", f"{RUNNER}init_cuda_graphs"),
        ("raised_at_start", f"{RUNNER}register_graph_buffers"),
        ("raised_at_start", "    self.init_cuda_graphs()"),
        ("raised_at_start", f"{SCHEDULER}init_tp_model_worker"),
        ("raised_at_work", "    scheduler.event_loop_pp()"),
        ("raised_at_work", "    scheduler.run_event_loop()"),
        ("raised_at_work", f"{SCHEDULER}event_loop_pp_disagg_prefill"),
        ("stage_waits", "    _pp_recv_proxy_tensors (scheduler_pp_mixin.py:933)"),
        ("stage_waits", "    event_loop_pp (sglang/srt/managers/scheduler_pp_mixin.py:95)"),
        ("watchdog_dump", "Scheduler debug info:"),
        ("watchdog_dump", "Pyspy failed to dump PID 171. Error: /bin/dash: 1: py-spy: not found"),
        ("assert_line", "    assert logits.shape[0] == len(seq_lens_expanded)"),
        ("nccl_timeout", "[PG ID 2 PG GUID 3 Rank 3] Timeout at NCCL work: 32, last enqueued NCCL work: 32"),
        ("nccl_timeout", "[PG ID 2 PG GUID 3 Rank 1]  failure detected by watchdog at work sequence id: 40231"),
        ("not_enough_memory", "max_total_tokens=131072 is larger than the profiled value -561981. Use the profiled"),
    ],
)
def test_a_line_tells_where_the_server_stopped(kind: str, line: str) -> None:
    found = find_trouble(line)
    assert found is not None
    assert found.kind.id == kind


@pytest.mark.parametrize(
    "line",
    [
        '  File "/home/me/bench.py", line 12, in load_model',
        "scheduler.event_loop_pp is slow for us",
        "max_total_tokens=131072 is larger than the profiled value 90112. Use the profiled value instead.",
        "we assert that it works",
    ],
)
def test_what_only_looks_like_such_a_line_is_none(line: str) -> None:
    found = find_trouble(line)
    assert found is None or found.kind.id not in (
        "raised_at_start",
        "raised_at_work",
        "not_enough_memory",
        "assert_line",
    )


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has", "CUDA out of memory. Tried to allocate 448.00"),
        ("[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer", "Connection closed by peer"),
    ],
)
def test_a_failed_capture_is_one_whatever_it_failed_of(message: str, said: str) -> None:
    found = find_trouble(f"Exception: Capture cuda graph failed: {message}")
    assert found is not None
    assert found.kind.id == "capture_failed"
    assert said in found.fields["message"]


def test_the_model_that_was_loaded_as_its_own_draft_is_named() -> None:
    found = find_trouble("AttributeError: 'Qwen2ForCausalLM' object has no attribute 'set_embed'")
    assert found is not None
    assert (found.kind.id, found.fields["model"]) == ("draft_is_target", "Qwen2ForCausalLM")


def test_the_fraction_in_force_is_read_from_the_message_that_names_it() -> None:
    line = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. "
    found = find_trouble(f"{line}Current value: self.server_args.mem_fraction_static=0.2")
    assert found is not None
    assert found.fields["fraction"] == "0.2"


@pytest.mark.parametrize(("lead", "raised"), [("ValueError: ", "ValueError"), ("", None)])
def test_unequal_memory_that_ended_the_start_is_told_from_a_warning_of_it(lead: str, raised: str | None) -> None:
    found = find_trouble(f"{lead}The memory capacity is unbalanced. min_per_gpu_memory=14.8, local_gpu_memory=23.1")
    assert found is not None
    assert found.kind.id == "unbalanced_memory"
    assert found.fields.get("raised") == raised
    assert (found.fields["least_gib"], found.fields["local_gib"]) == ("14.8", "23.1")
