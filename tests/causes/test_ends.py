"""How a server ended, where no cause on the list explains it: the error in words, and the next thing to look at."""

import pytest
from builders import facts_of, healthy_server, level

from ppagent.agent.board import compute_board, verdict_of
from ppagent.agent.probes import next_probes
from ppagent.agent.summary import summary_of
from ppagent.causes.ends import end_of, questions_of_a_dead_server, told_of_an_end
from ppagent.causes.sighting import came_up
from ppagent.changes.proposal import Plan
from ppagent.evidence.evidence import FactValue


def died_of(error: str, kind: str, **rest: FactValue) -> dict[str, FactValue]:
    return {"log.error": error, "log.error_kind": kind, "log.ended_by_error": True, "log.lines": 40, **rest}


ILLEGAL = died_of("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda_error")


def summary(values: dict[str, FactValue]) -> str:
    facts = facts_of(values)
    board = compute_board(facts)
    return summary_of(verdict_of(board, facts), board, facts, Plan(), next_probes(board, facts))


def test_the_summary_names_the_error_what_it_means_and_where_to_look() -> None:
    said = summary(ILLEGAL | {"log.error_ranks": ["TP2"]})
    assert said.startswith("The server ended with `RuntimeError: CUDA error: an illegal memory access was encountered`")
    assert "on TP2 [log]: a kernel went wrong" in said
    assert "Look next at the kernel log" in said
    assert "decode" not in said


KILLED: list[FactValue] = [{"pid": 40123, "name": "sglang::schedul"}, {"pid": 7, "name": "java"}]


@pytest.mark.parametrize("error", ["Read error [10.0.0.4]:41188: Connection reset by peer", "exit code -9"])
def test_a_process_that_the_kernel_killed_is_why_another_noticed(error: str) -> None:
    said = summary(died_of(error, "nccl_error", **{"host.oom_killed": KILLED}))
    assert ": the kernel killed sglang::schedul for want of host memory." in said
    assert "whether the kernel killed it" not in said
    java = summary(died_of(error, "nccl_error", **{"host.oom_killed": KILLED[1:]}))
    assert "the kernel killed" not in java.replace("whether the kernel killed it", "")
    own = summary(ILLEGAL | {"host.oom_killed": KILLED})
    assert "a kernel went wrong" in own


@pytest.mark.parametrize(
    ("error", "kind", "means", "tool"),
    [
        ("RuntimeError: NCCL error: unhandled system error", "nccl_error", "/dev/shm", "logs.trouble"),
        ("RuntimeError: CUDA error: invalid device ordinal", "cuda_error", "CUDA_VISIBLE_DEVICES", "gpu.samples"),
        (
            "RuntimeError: Gloo connectFullMesh failed with pair.cc:144",
            "runtime_error",
            "GLOO_SOCKET",
            "host.environment",
        ),
        ("Connection closed by peer [10.0.0.12]:41210", "nccl_error", "another rank ended first", "logs.trouble"),
        ("Watchdog timeout (self.watchdog_timeout=300)", "watchdog_timeout", "never finished", "logs.trouble"),
        ("Subprocess scheduler_0 (pid=7) crashed with exit code -9", "child_died", "host memory", "host.kernel"),
        ("KeyError: 'model.layers.0'", "exception", "", "logs.startup"),
    ],
)
def test_each_kind_of_error_is_explained_and_sends_to_what_tells_more(
    error: str, kind: str, means: str, tool: str
) -> None:
    end = end_of(facts_of(died_of(error, kind)))
    assert end is not None
    assert means in end.means
    assert end.probes[0].tool == tool


def test_a_traceback_without_its_last_line_says_so_and_where_it_was_raised() -> None:
    start = {"trouble.scheduler_exception": 1, "trouble.raised_at_start": 2, "log.lines": 9}
    said = summary(start | died_of("Scheduler hit an exception: Traceback", "scheduler_exception"))
    assert "a traceback whose last line is missing" in said
    assert "the exception was raised while the server was built" in said


@pytest.mark.parametrize(
    ("frames", "up"),
    [
        ({"trouble.raised_at_start": 2}, False),
        ({"trouble.raised_at_work": 1}, True),
        ({"trouble.raised_at_start": 2, "trouble.raised_at_work": 1}, None),
        ({"trouble.raised_at_work": 1, "start.ready": False}, False),
        ({"trouble.raised_at_start": 1, "decode.lines": 12}, True),
    ],
)
def test_frames_of_a_traceback_tell_whether_the_server_came_up(frames: dict[str, FactValue], up: bool | None) -> None:
    seen = came_up(facts_of(frames))
    assert (None if seen is None else seen.yes) is up


def test_memory_that_ended_at_work_is_told_from_memory_that_ended_somewhere() -> None:
    oom = died_of("torch.OutOfMemoryError: CUDA out of memory.", "cuda_oom")
    somewhere, at_work = end_of(facts_of(oom)), end_of(facts_of(oom | {"trouble.raised_at_work": 1}))
    assert somewhere is not None and "whether at the start or at work" in somewhere.means
    assert at_work is not None and "ran out of memory at work" in at_work.means


def test_a_server_that_is_gone_is_not_asked_for_its_speed() -> None:
    facts = facts_of(ILLEGAL)
    assert "logs.decode" in questions_of_a_dead_server(facts)
    assert not {probe.tool for probe in next_probes(compute_board(facts), facts)} & {"logs.decode", "http.metrics"}
    assert not questions_of_a_dead_server(facts_of(ILLEGAL | {"decode.lines": 80}))


def test_of_a_start_that_did_not_end_only_what_can_stop_one_is_asked() -> None:
    stuck: dict[str, FactValue] = {"start.ready": False, "log.lines": 30, "args.tp_size": 2, "args.model_path": "/m"}
    assert "The log ends before the server is up, and names no error [start]" in summary(stuck)
    tools = {probe.tool for probe in next_probes(compute_board(facts_of(stuck)), facts_of(stuck))}
    assert "host.kernel" in tools and "logs.decode" not in tools
    with_speed = stuck | {"stated.levels": [level(8, 120)]}
    assert "names no error" not in summary(with_speed)


def test_a_crash_that_is_only_told_of_asks_for_the_log_first() -> None:
    told: dict[str, FactValue] = {"stated.sentences": ["The service runs for a while, then it crashes."]}
    facts = facts_of(told)
    assert [probe.tool for probe in told_of_an_end(facts)] == ["logs.trouble"]
    assert next_probes(compute_board(facts), facts)[0].why.startswith("the log's last lines")
    assert told_of_an_end(facts_of({"stated.sentences": ["It is stuck at 50 tok/s."]})) == ()


def test_a_server_that_crashed_is_not_healthy_however_well_it_ran_before() -> None:
    healthy = healthy_server() | {"bench.levels": [level(64, 2400)], "gpu.power_w": {"0": 500, "1": 505}}
    facts = facts_of(healthy)
    assert verdict_of(compute_board(facts), facts) == "healthy"
    crashed = facts_of(healthy | ILLEGAL)
    assert verdict_of(compute_board(crashed), crashed) == "not_enough_evidence"


@pytest.mark.parametrize(
    ("error", "means"),
    [
        ("torch.distributed.DistNetworkError: The client socket has timed out after 600000ms", "--dist-init-addr"),
        ("[Errno 98] error while attempting to bind on address ('0.0.0.0', 30000): address already in use", "the port"),
        ("OSError: Can't load tokenizer for '/models/foo'", "--model-path"),
        ("ModuleNotFoundError: No module named 'deep_ep'", "not installed"),
        ("KVTransferError(bootstrap_room=1): Failed due to an unknown reason from another rank", "did not come over"),
    ],
)
def test_errors_of_the_surroundings_are_told_from_errors_of_the_server(error: str, means: str) -> None:
    end = end_of(facts_of(died_of(error, "exception")))
    assert end is not None
    assert means in end.means


def test_a_cause_of_slowness_is_not_told_as_the_reason_of_a_crash() -> None:
    slow: dict[str, FactValue] = {"launch.disable_cuda_graph": True, "launch.command": "--disable-cuda-graph"}
    crash = died_of("IndexError: list index out of range", "exception", **{"decode.lines": 30})
    facts = facts_of(slow | crash)
    board = compute_board(facts)
    assert [h.cause_id for h in board.supported] == ["CG001"]
    said = summary(slow | crash)
    assert said.startswith("The server ended with `IndexError: list index out of range` [log]. What follows does not")
    assert next_probes(board, facts)[0].why.startswith("version, arguments and the last step")
    explained = slow | crash | {"trouble.draft_is_target": 1, "launch.speculative_algorithm": "EAGLE3"}
    assert "What follows does not explain" not in summary(explained)
