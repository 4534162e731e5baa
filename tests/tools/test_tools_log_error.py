"""The one error of a log that tells why a server ended."""

import pytest
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent_tools.logs import Startup, Trouble

AT = "[2026-01-12 02:47:{:02d} TP{}]"
TRACEBACK = "Scheduler hit an exception: Traceback (most recent call last):"
LOOP = '  File "/x/sglang/srt/managers/scheduler.py", line 2680, in event_loop_overlap'
ECC = "RuntimeError: CUDA error: uncorrectable ECC error encountered"


def log(*lines: str) -> FakeTarget:
    return box(server_log="".join(f"{line}\n" for line in lines))


def test_the_first_exception_after_the_first_traceback_is_the_one() -> None:
    facts = facts_of(
        run(
            Trouble(),
            log(
                "ValueError: of a request that was refused an hour ago",
                f"{AT.format(1, 1)} {TRACEBACK}",
                LOOP,
                "AttributeError: 'NoneType' object has no attribute 'shape'",
                "[2026-01-12 02:47:09] Received sigquit from a child process. It usually means the child failed.",
                "[rank0]:[E1] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=6)",
            ),
        )
    )
    assert facts.text("log.error") == "AttributeError: 'NoneType' object has no attribute 'shape'"
    assert facts.text("log.error_kind") == "exception"
    assert facts.items("log.error_ranks") == ["TP1"]
    assert facts.flag("log.ended_by_error") is True


def test_every_rank_that_timed_out_is_named() -> None:
    lines = [f"{AT.format(15, rank)} Watchdog timeout (self.watchdog_timeout=300)" for rank in (4, 6, 0)]
    facts = facts_of(run(Trouble(), log(*lines)))
    assert facts.text("log.error") == "Watchdog timeout (self.watchdog_timeout=300)"
    assert facts.items("log.error_ranks") == ["TP4", "TP6", "TP0"]


def test_a_line_that_libraries_wrote_into_is_quoted_from_where_it_says_so() -> None:
    modules = ", ".join(f"package{n}._so" for n in range(12))
    line = (
        f"Extension modules: {modules}[rank5]:[E226] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL("
    )
    facts = facts_of(run(Trouble(), log(f"{AT.format(1, 2)} Load weight begin. avail mem=78.38 GB", line)))
    assert facts.text("log.error") == "[Rank 5] Watchdog caught collective operation timeout: WorkNCCL("
    assert facts.items("log.error_ranks") == ["rank 5"]


def test_an_assertion_without_a_message_is_told_with_what_it_asserts() -> None:
    facts = facts_of(
        run(Trouble(), log(f"{AT.format(1, 3)} {TRACEBACK}", LOOP, "    assert rows == len(lens)", "AssertionError"))
    )
    assert facts.text("log.error") == "AssertionError: assert rows == len(lens)"


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        (ECC, True),
        ("[2026-01-12 02:47:09] Subprocess scheduler_0 (pid=77) crashed with exit code -9. Triggering SIGQUIT", True),
        (f"{AT.format(9, 1)} Decode transfer failed for request rank=1 with exception KVTransferError(...)", False),
        (f"{AT.format(9, 1)} SoftWatchdog watchdog timeout (self.watchdog_timeout=300, self.soft=True)", False),
    ],
)
def test_whether_it_ended_the_server_is_told(line: str, ended: bool) -> None:
    assert facts_of(run(Trouble(), log(line))).flag("log.ended_by_error") is ended


def test_a_log_without_errors_names_none() -> None:
    facts = facts_of(
        run(Trouble(), log(f"{AT.format(1, 0)} Using default MoE config. Performance might be sub-optimal!"))
    )
    assert facts.get("log.error") is None
    assert facts.get("log.ended_by_error") is None


@pytest.mark.parametrize(
    ("arguments", "cut"),
    [
        ("ServerArgs(model_path='/m', tp_size=8)", None),
        ("ServerArgs(model_path='/m', served_model", True),
        ("ServerArgs(model_path='/m', ..., tp_size=8)", True),
    ],
)
def test_a_line_of_arguments_that_is_not_whole_is_said_to_be_so(arguments: str, cut: bool | None) -> None:
    facts = facts_of(run(Startup(), log(f"[2025-03-18 15:24:52] server_args={arguments}")))
    assert facts.flag("start.args_cut") is cut
    assert facts.text("args.model_path") == "/m"


def test_a_try_that_was_refused_before_the_server_came_up_is_not_its_end() -> None:
    refused = "launch_server.py: error: unrecognized arguments: --enable-reasoning"
    start = ("[2025-03-18 15:24:52] server_args=ServerArgs(model_path='/m', tp_size=8)",)
    ready = (*start, "[2025-03-18 15:26:52] The server is fired up and ready to roll!")
    assert facts_of(run(Trouble(), log(refused, *ready))).get("log.error") is None
    assert facts_of(run(Trouble(), log(refused, *start))).flag("log.ended_by_error") is True


REFUSED = "ValueError: The input (9000 tokens) is longer than the model's context length (8192 tokens)."


def test_an_error_that_the_server_decoded_on_after_is_not_what_tells() -> None:
    lines = ("[2026-01-01 00:00:02] Exception in ASGI application", "Traceback (most recent call last):", REFUSED)
    assert error_of(*lines, *(_decoded(second) for second in (3, 4))) is None
    assert error_of(*(_decoded(second) for second in (0, 1)), *lines) == REFUSED


def test_the_decode_lines_of_other_stages_do_not_hide_the_error_of_a_stage_that_ended() -> None:
    died = ("[2026-01-01 00:00:02 PP1] Scheduler hit an exception: Traceback (most recent call last):", REFUSED)
    assert error_of(*died, *(_decoded(second) for second in (3, 4))) == REFUSED


def _decoded(second: int) -> str:
    return (
        f"[2026-01-01 00:00:0{second} PP0] Decode batch, #running-req: 4, #token: 300, token usage: 0.01, "
        "cuda graph: True, gen throughput (token/s): 95.00, #queue-req: 0"
    )


def error_of(*lines: str) -> str | None:
    return facts_of(run(Trouble(), log(*lines))).text("log.error")
