"""Whole logs: what counts, what is left out, what survives."""

import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_lines import OLD, START, decode, note, prefill, read, read_log_text

from ppagent.sglang.logs.prefix import Ranks
from ppagent.sglang.logs.server_args import MASK
from ppagent.sglang.logs.startup_facts import KvPool, WeightLoad
from ppagent.sglang.logs.stream import LONGEST_LINE, batches_of_lines, read_log, read_log_stream


def test_an_old_log_is_read_from_arguments_to_retraction() -> None:
    summary = read_log_text(OLD.read_bytes())
    stretch = summary.current
    assert (summary.launches, summary.skipped) == (1, {})
    args = stretch.startup.args
    assert args is not None
    assert (args.values["pp_size"], args.values["api_key"]) == (2, MASK)
    assert str(args.values["custom_sigquit_handler"]).startswith("<")
    assert [load.used_gib for load in stretch.startup.of(WeightLoad) if load.edge == "end"] == [28.4, 29.6]
    assert stretch.startup.graph_sizes() == (1, 2, 4, 8)
    assert [pool.tokens for pool in stretch.startup.of(KvPool)] == [381234, 381234]
    (stats,) = stretch.decode
    assert stats.lines == 6
    assert (stats.graph_true, stats.graph_false) == (4, 2)
    assert (stats.max_running_in_graph, stats.min_running_outside_graph) == (4, 10)
    assert stats.running_counts == {1: 2, 4: 2, 10: 1, 12: 1}
    assert stats.examples["graph_false"].startswith("[2025-08-01 10:00:46 TP0 PP0] Decode batch. #running-req: 12")
    (prefills,) = stretch.prefill
    assert (prefills.lines, prefills.new_tokens, prefills.cached_tokens, prefills.new_seqs) == (2, 4010, 96, 5)


def test_retractions_printed_by_both_stages_count_once_and_split_the_throughput() -> None:
    tally = read_log_text(OLD.read_bytes()).current.troubles["kv_pool_full"]
    assert (tally.lines, tally.once, tally.summed) == (2, 1, 2.0)
    assert tally.by_pp == {0: 1, 1: 1}
    assert tally.before is not None
    assert tally.before.tokens_per_s == 60.0
    assert tally.after is not None
    assert (tally.after.tokens_per_s, tally.after.running) == (20.0, 1.0)
    assert tally.first[0].ranks == Ranks(pp=0, tp=0)


def test_only_stage_0_counts_and_stages_are_never_added() -> None:
    lines = [decode(second, 4, 10.0 + pp, tags=f" PP{pp}") for second in range(6) for pp in range(8)]
    (stats,) = read(*lines).current.decode
    assert stats.ranks == Ranks(pp=0)
    assert stats.lines == 6
    assert stats.tokens_per_s is not None
    assert stats.tokens_per_s.mean == 10.0


def test_a_log_of_later_stages_counts_the_lowest_and_says_so() -> None:
    lines = [decode(second, 4, tags=f" PP{pp} TP0") for second in range(4) for pp in (6, 4, 5)]
    stretch = read(*lines).current
    (stats,) = stretch.decode
    assert (stats.ranks.pp, stats.lines) == (4, 4)
    assert stretch.notes == ("Stage 0 is not in this log: stage 4 was counted in its place.",)


def test_dp_ranks_are_separate_schedulers_whose_throughput_adds_up() -> None:
    lines = [
        decode(second, 4 + dp, 100.0 * (dp + 1), tags=f" DP{dp} TP{2 * dp} EP{2 * dp}")
        for second in range(5)
        for dp in (1, 0)
    ]
    stretch = read(*lines).current
    assert [(stats.ranks.dp, stats.ranks.tp, stats.lines) for stats in stretch.decode] == [(0, 0, 5), (1, 2, 5)]
    assert stretch.tokens_per_s == 300.0


def test_a_second_tp_rank_that_prints_too_is_ignored() -> None:
    lines = [decode(second, 4, tags=f" TP{tp}") for second in range(3) for tp in (0, 1)]
    (stats,) = read(*lines).current.decode
    assert (stats.ranks.tp, stats.lines) == (0, 3)


def test_forward_occupancy_is_averaged_by_stage() -> None:
    lines = [
        decode(second, 4, tags=f" PP{pp}", tail=f", fwd occupancy: {10 * pp + second:.2f}%")
        for second in range(5)
        for pp in range(3)
    ]
    stretch = read(*lines).current
    assert stretch.occupancy_percent == {0: 2.0, 1: 12.0, 2: 22.0}
    assert stretch.decode[0].lines == 5
    assert read(*lines[:-1]).current.occupancy_percent == {}, "four lines of one stage are no mean to compare"


def test_milliseconds_wrappers_and_long_tags_change_no_number() -> None:
    plain = [decode(second, second, 5.0 * second, tags=" DP0 PP0 ATTN_CP0 MOE_DP0 TP0 EP0") for second in range(9)]
    expected = read(*plain).current.decode[0]
    with_ms = [line.replace(" DP0", ".123 DP0", 1) for line in plain]
    wrapped = ["sglang-1  | " + line for line in plain]
    for variant in (with_ms, wrapped):
        (stats,) = read(*variant).current.decode
        assert (stats.running_counts, stats.tokens_per_s) == (expected.running_counts, expected.tokens_per_s)
        assert stats.examples["last"] == variant[-1]


def test_unusual_layouts_count_like_the_usual_one() -> None:
    lines = [
        decode(0, 1),
        "[2026-01-01 12:00:01 PP0] Decode batch, #running-req: 4, #full token: 9, full token usage: 0.30, "
        "#swa token: 3, swa token usage: 0.80, npu graph: False, gen throughput (token/s): 38.00, #queue-req: 2",
        "[2026-01-01 12:00:02 PP0] Decode batch. #running-req: 6, #token: 9, token usage: 0.40, "
        "gen throughput (token/s): 40.00, #queue-req: 1",
    ]
    (stats,) = read(*lines).current.decode
    assert stats.running_counts == {1: 1, 4: 1, 6: 1}
    assert stats.token_usage is not None
    assert stats.token_usage.high == 0.8
    assert (stats.graph_true, stats.graph_false) == (1, 1)
    assert stats.queue_share == pytest.approx(2 / 3)
    assert stats.examples["queue_max"] == lines[1]


def test_speculation_figures_are_averaged() -> None:
    lines = [
        f"[2026-01-01 12:00:0{n} TP0] Decode batch, #running-req: 1, #token: 9, token usage: 0.40, "
        f"accept len: {2 + n}.00, accept rate: 0.5{n}, cuda graph: True, "
        "gen throughput (token/s): 40.00, #queue-req: 0, "
        for n in range(3)
    ]
    (stats,) = read(*lines).current.decode
    assert stats.accept_len == pytest.approx(3.0)
    assert stats.accept_rate == pytest.approx(0.51)


def test_a_relaunch_in_one_log_is_a_stretch_of_its_own() -> None:
    first = [note(0, "server_args={'pp_size': 4}"), decode(5, 9), note(6, "Received sigquit from a child process.")]
    second = [
        note(20, "Cuda graph is disabled because of using torch native attention backend"),
        note(21, "server_args={'pp_size': 8}"),
        decode(30, 2, graph="False"),
        decode(31, 2, graph="False"),
    ]
    summary = read(*first, *second)
    assert summary.launches == 2
    old, new = summary.stretches
    assert set(old.troubles) == {"child_died"}
    assert set(new.troubles) == {"graph_disabled"}
    assert new.startup.args is not None
    assert new.startup.args.values == {"pp_size": 8}
    assert (old.decode[0].lines, new.decode[0].lines) == (1, 2)
    assert summary.current is new
    assert summary.busiest is new


def test_a_server_that_crashes_in_a_loop_keeps_its_first_and_last_launches() -> None:
    lines = [note(n, f"server_args={{'port': {n}}}") for n in range(100)]
    summary = read(*lines)
    assert summary.launches == 100
    ports = [stretch.startup.args.values["port"] for stretch in summary.stretches if stretch.startup.args is not None]
    assert ports[0] == 0
    assert ports[-1] == 99
    assert len(ports) == 16


def test_a_traceback_belongs_to_the_rank_that_announced_it() -> None:
    lines = [
        note(0, "Scheduler hit an exception: Traceback (most recent call last):", " PP5 TP1"),
        '  File "scheduler.py", line 1, in run',
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ]
    troubles = read(*lines).current.troubles
    assert troubles["cuda_oom"].first[0].ranks == Ranks(pp=5, tp=1)
    assert troubles["cuda_oom"].first[0].fields == {"tried": "2.00 GiB"}
    assert troubles["cuda_oom"].first[0].at is None


def test_events_are_kept_at_both_ends_and_counted_in_full() -> None:
    lines = [
        note(n, f"KV cache pool is full. Retract requests. #retracted_reqs: {n % 3}, x", " PP0") for n in range(1000)
    ]
    tally = read(*lines).current.troubles["kv_pool_full"]
    assert (tally.once, tally.summed) == (1000, sum(n % 3 for n in range(1000)))
    assert [event.line for event in tally.first] == list(range(1, 21))
    assert [event.line for event in tally.last] == list(range(981, 1001))


def test_text_of_users_is_never_read_for_troubles() -> None:
    lines = [
        note(0, "Receive: obj=GenerateReqInput(text='CUDA out of memory. Tried to allocate 1 GiB')"),
        note(0, "Finish: obj=GenerateReqInput(text='KV cache pool is full. Retract requests. #retracted_reqs: 1')"),
        note(0, '{"event": "request.received", "obj": {"text": "AssertionError: CUDA error: x"}}'),
        '{"event": "request.received", "obj": {"text": "AssertionError: CUDA error: out of memory"}}',
        note(1, 'INFO:     10.0.0.1:1 - "GET /Killed%20process HTTP/1.1" 404 Not Found'),
    ]
    stretch = read(*lines).current
    assert stretch.troubles == {}
    assert stretch.last_at == START + timedelta(seconds=1)


def test_half_lines_binary_and_overlong_lines_are_counted_and_passed_over() -> None:
    whole = decode(0, 4)
    data = b"\n".join(
        [
            whole.encode(),
            whole[:90].encode(),
            b"\x00\x01\x02binary",
            b"x" * (LONGEST_LINE + 10),
            b"\xff\xfe",
            decode(1, 5).encode(),
        ]
    )
    summary = read_log_stream(io.BytesIO(data))
    assert summary.skipped == {"cut": 1, "binary": 1, "overlong": 1}
    assert summary.current.decode[0].running_counts == {4: 1, 5: 1}


def test_arguments_split_by_kubernetes_are_joined() -> None:
    text = note(0, "server_args={'pp_size': 8, 'model_path': '/models/" + "x" * 200 + "'}")
    lines = [f"2026-01-01T00:00:00.1Z stderr P {text[:100]}", f"2026-01-01T00:00:00.1Z stderr F {text[100:]}"]
    args = read(*lines).current.startup.args
    assert args is not None
    assert args.complete
    assert args.values["pp_size"] == 8


def test_queue_pending_and_prefix_share_of_prefills() -> None:
    lines = [prefill(0, pending=10), prefill(1, pending=900, new=300), decode(2, 3), prefill(3)]
    (stats,) = read(*lines).current.prefill
    assert (stats.lines, stats.longest_run) == (3, 2)
    assert stats.cached_share == pytest.approx(84 / 584)
    assert stats.pending_tokens is not None
    assert stats.pending_tokens.high == 900
    assert stats.tokens_per_line is not None
    assert (stats.tokens_per_line.p50, stats.tokens_per_line.high) == (100, 300)
    assert stats.examples["pending_max"] == lines[1]


def test_examples_are_verbatim_lines_of_the_log() -> None:
    lines = [decode(n, running, rate=float(running), queue=running // 4) for n, running in enumerate([1, 2, 2, 2, 9])]
    (stats,) = read(*lines).current.decode
    assert stats.examples["running_p50"] == lines[1]
    assert stats.examples["running_max"] == stats.examples["queue_max"] == lines[4]
    assert set(stats.examples.values()) <= set(lines)


def test_an_empty_log_is_an_empty_stretch() -> None:
    summary = read_log([])
    assert (summary.lines, summary.launches) == (0, 1)
    assert (summary.current.decode, summary.current.tokens_per_s, summary.current.last_seen) == ((), None, ())


def test_lines_come_out_of_a_stream_whatever_its_pieces() -> None:
    class Pieces:
        def __init__(self, data: bytes) -> None:
            self.parts: Iterator[bytes] = iter([data[i : i + 7] for i in range(0, len(data), 7)])

        def read(self, size: int, /) -> bytes:
            return next(self.parts, b"")

    data = b"one\ntwo is longer\n\nthree" + b"x" * 40 + b"\nlast"
    assert [line for batch in batches_of_lines(Pieces(data), longest=20) for line in batch] == [
        b"one",
        b"two is longer",
        b"",
        data.split(b"\n")[3][:20],
        b"last",
    ]


@settings(max_examples=60)
@given(st.binary(max_size=600))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    summary = read_log_text(data)
    assert summary.lines == len(data.removesuffix(b"\n").split(b"\n")) * bool(data)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 10**6), st.booleans()), min_size=1, max_size=60))
def test_counts_are_those_of_the_lines(rows: list[tuple[int, int, bool]]) -> None:
    lines = [decode(n, running, queue=queue, graph=str(graph)) for n, (running, queue, graph) in enumerate(rows)]
    (stats,) = read(*lines).current.decode
    assert stats.lines == len(rows)
    assert stats.graph_true == sum(graph for _, _, graph in rows)
    assert stats.running is not None
    assert stats.running.mean == pytest.approx(sum(running for running, _, _ in rows) / len(rows))
    assert stats.queue is not None
    assert (stats.queue.low, stats.queue.high) == (min(q for _, q, _ in rows), max(q for _, q, _ in rows))


@pytest.mark.parametrize("lead", ["  ", "> ", "user says: "])
def test_log_lines_that_a_user_quotes_count_only_where_the_whole_log_is_quoted(lead: str) -> None:
    own = [decode(second, 4) for second in range(5)]
    quoted = [
        lead + decode(9, 1, 1.0, graph="False", queue=99),
        lead + note(9, "KV cache pool is full. Retract requests. #retracted_reqs: 99", " PP0"),
    ]
    mixed = read(*own, *quoted, *own)
    assert mixed.current.decode[0].lines == 10
    assert mixed.current.troubles == {}
    assert mixed.skipped == {"quoted": 2}
    whole = read(*(lead + line for line in own), *quoted)
    assert whole.current.decode[0].lines == 6
    assert len(whole.current.troubles) == 1
