import asyncio
import time
from array import array
from collections.abc import Iterator

import pytest

from ppagent.bench.control import Control
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.events import Final
from ppagent.bench.level import LevelRun, run_level
from ppagent.bench.prompts import FilePrompts, Prompts, Span, WordPrompts
from ppagent.bench.record import Request
from ppagent.bench.result import LevelResult, sum_up
from ppagent.bench.server_view import ServerSeen, ServerWatch
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from tests.bench.fakes import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=2, per_request_ms=1) as running:
        yield running


def measured(server: FakeServer, prompts: Prompts | None = None, watched: bool = False, **shape: object) -> LevelResult:
    known: dict[str, object] = {"concurrency": 4, "seconds": 0.6, "input_tokens": Span(8, 8)}
    asked = Shape(**{**known, "output_tokens": Span(10, 10), **shape})  # type: ignore[arg-type]
    given = prompts or WordPrompts(asked.input_tokens, asked.output_tokens, asked.seed)
    watch = ServerWatch(Control(server.endpoint), poll_s=0.1) if watched else None
    return sum_up(asyncio.run(run_level(server.endpoint, asked, given, watch_server=watch)))


def test_the_rate_is_that_of_the_ring(server: FakeServer) -> None:
    result = measured(server, seconds=1.0, output_tokens=Span(20, 20))
    turn_ms = 2 + 4 * 1  # all four clump in one slot
    assert result.steady is not None
    assert result.steady.tokens_per_s == pytest.approx(4000 / turn_ms, rel=0.25)
    assert result.itl.median == pytest.approx(turn_ms, rel=0.3)
    assert result.tpot.mean == pytest.approx(result.itl.mean, rel=0.1)
    assert all(record.tokens == 20 for record in result.completed)


def test_tokens_are_counted_as_the_server_counts_them() -> None:
    """A server slow enough that a busy client does not hold its requests back, which is warned of."""
    with FakeServer(base_ms=20, per_request_ms=1) as server:
        result = measured(server, watched=True)
        sent_in_warm_up = 4 * 4
        assert result.run.server.generated_tokens == sum(record.tokens for record in result.run.records)
        assert server.generated == result.run.server.generated_tokens + sent_in_warm_up
    assert result.warnings == ()


def test_requests_in_flight_are_seen_from_both_sides(server: FakeServer) -> None:
    result = measured(server, watched=True, concurrency=6, seconds=1.2, output_tokens=Span(30, 30))
    assert 1 < result.concurrency <= 6.01
    assert (result.run.server.in_flight or 0) > 1
    assert result.run.server.slot_running_max == 6


def test_both_sides_agree_on_the_requests_in_flight(server: FakeServer) -> None:
    result = measured(server, watched=True, concurrency=6, seconds=1.2, output_tokens=Span(30, 30))
    assert result.concurrency == pytest.approx(6, rel=0.15)
    assert result.run.server.in_flight == pytest.approx(6, rel=0.25)


def test_think_time_leaves_fewer_requests_in_flight_and_is_no_fault(server: FakeServer) -> None:
    result = measured(server, think_s=0.1, seconds=1.2)
    assert result.concurrency < 3
    assert result.asked_in_flight == pytest.approx(result.concurrency, rel=0.35)
    assert not [remark for remark in result.warnings if "asked for" in remark]


def test_all_clients_start_and_every_request_is_recorded(server: FakeServer) -> None:
    result = measured(server, concurrency=32, requests=32)
    assert len(result.run.records) == 32


def test_all_clients_start_together_from_connections_that_are_open(server: FakeServer) -> None:
    result = measured(server, concurrency=32, requests=32)
    assert result.start_spread_ms < 100
    assert result.client_wait.max < 100


def test_every_connection_is_warmed_before_the_clock_starts(server: FakeServer) -> None:
    result = measured(server, concurrency=3, requests=3)
    assert server.served == 6
    assert len(result.run.records) == 3


def test_failed_requests_are_counted_apart_and_in_no_average() -> None:
    with FakeServer(base_ms=2, fails=lambda number: number > 8 and number % 3 == 0) as server:
        result = measured(server, seconds=1.0)
    assert result.failed
    assert all("out of luck" in record.error for record in result.failed)
    assert result.ttft.count == len(result.completed)
    assert result.output_tokens == sum(record.tokens for record in result.completed)
    assert any(f"{len(result.failed)} requests failed" in remark for remark in result.warnings)


def test_an_error_within_a_stream_is_a_failure() -> None:
    with FakeServer(base_ms=2) as server:
        server.error_in_stream = True
        with pytest.raises(ToolError, match="scheduler died"):
            measured(server)


def test_a_connection_that_is_cut_is_a_failure() -> None:
    with FakeServer(base_ms=2, drops_at=6) as server:
        result = measured(server, seconds=0.5)
    assert result.failed
    assert "connection was lost" in result.failed[0].error


def test_answers_that_stop_early_are_counted_by_what_came() -> None:
    with FakeServer(base_ms=2, stops_early_at=5) as server:
        result = measured(server, output_tokens=Span(50, 50))
    assert {record.tokens for record in result.completed} == {5}
    assert any("ended early" in remark for remark in result.warnings)


def test_several_tokens_in_one_event_are_several_tokens() -> None:
    with FakeServer(base_ms=4, per_request_ms=0, tokens_at_once=3) as server:
        result = measured(server, concurrency=1, output_tokens=Span(30, 30))
    assert {record.tokens for record in result.completed} == {30}
    assert result.itl.median == pytest.approx(4 / 3, rel=0.4)


def test_a_level_is_boxed_in_time_and_what_still_runs_is_cut() -> None:
    with FakeServer(base_ms=20) as server:
        begin = time.monotonic()
        shape = Shape(concurrency=2, seconds=0.6, input_tokens=Span(4, 4), output_tokens=Span(5000, 5000))
        prompts = WordPrompts(shape.input_tokens, shape.output_tokens, 1)
        result = sum_up(asyncio.run(run_level(server.endpoint, shape, prompts, drain_s=0.2)))
    assert time.monotonic() - begin < 4
    assert result.cut == 2
    assert result.completed == ()
    assert result.failed == ()
    assert result.e2e.count == 0


def test_requests_by_the_clock_come_at_the_asked_rate(server: FakeServer) -> None:
    result = measured(server, concurrency=None, rate=60.0, seconds=1.2, output_tokens=Span(3, 3))
    assert len(result.run.records) == pytest.approx(72, abs=30)
    assert result.run.shape.open_loop
    assert result.client_wait.median < 20


def test_no_more_requests_are_sent_than_asked_for_while_others_wait_for_a_place() -> None:
    with FakeServer(base_ms=5) as server:
        result = measured(server, rate=200.0, concurrency=2, requests=6)
    assert len(result.run.records) == len(result.completed) == 6


def test_waiting_for_a_place_of_a_capped_open_loop_is_part_of_the_latency() -> None:
    with FakeServer(base_ms=20, per_request_ms=0) as server:
        result = measured(server, concurrency=1, rate=20.0, seconds=1.0, output_tokens=Span(10, 10))
    assert result.client_wait.max > 300
    assert result.ttft.max > 300


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again(server: FakeServer) -> None:
    server.closes_idle = True
    result = measured(server, requests=12)
    assert len(result.completed) == 12
    assert result.failed == ()


def test_other_traffic_on_the_server_is_said(server: FakeServer) -> None:
    server.tokens_of_others = 100_000
    result = measured(server, watched=True)
    assert any("others use it too" in remark for remark in result.warnings)


def test_prompts_that_came_again_are_said(server: FakeServer) -> None:
    prompts = FilePrompts(["one", "two"], "mine.txt", Span(4, 4), 1)
    result = measured(server, prompts, requests=6)
    assert any("prefix cache" in remark for remark in result.warnings)
    assert result.row()["dataset_name"] == "mine.txt"


def test_a_server_that_is_not_there_is_said_in_one_sentence() -> None:
    shape = Shape(concurrency=1, seconds=1)
    prompts = WordPrompts(Span(1, 1), Span(1, 1), 1)
    with pytest.raises(ToolError, match="cannot be reached"):
        asyncio.run(run_level(parse_endpoint("http://127.0.0.1:1"), shape, prompts))


def test_a_level_needs_a_load() -> None:
    with pytest.raises(ValueError, match="concurrency or a rate"):
        Shape()
    with pytest.raises(ValueError, match="1 or more"):
        Shape(concurrency=0)


def told_of(**seen: float) -> list[str]:
    """The doubts about a level of 30 requests, each of a second, four at a time."""
    records = []
    for n in range(32):
        record = Request(n % 4, 2, 10 + n // 4, 10 + n // 4 + (n == 3) * seen.get("spread_s", 0.0), 11.0 + n // 4)
        record.arrivals, record.counts = array("d", [10.5 + n // 4, 11.0 + n // 4]), array("l", [1, 2])
        record.final = Final(2, 8, 0, "x")
        records.append(record)
    run = LevelRun(
        Shape(concurrency=4), "random-words", False, tuple(records), 10.0, 18.0, int(seen.get("cold", 0)),
        1.0, 1.0, 1.0,
        ServerSeen(in_flight=seen.get("in_flight"), note="no /metrics there" if "in_flight" not in seen else ""),
    )  # fmt: skip
    return list(sum_up(run).warnings)


def test_a_server_that_does_not_tell_its_counters_is_said_with_the_reason() -> None:
    assert told_of() == ["the server's own counters are not known: no /metrics there"]


def test_warm_up_requests_that_failed_are_told() -> None:
    assert told_of(in_flight=4.0, cold=1) == ["1 request of the warm-up failed: some batch sizes may be cold"]


def test_requests_that_do_not_leave_at_once_are_told() -> None:
    assert told_of(spread_s=0.01, in_flight=4.0) == []
    assert any("left over 200 ms" in remark for remark in told_of(spread_s=0.2))


def test_requests_that_something_between_holds_back_are_told() -> None:
    assert told_of(in_flight=3.2) == []
    assert any("saw 2.0 requests in flight where 4.0 were sent" in remark for remark in told_of(in_flight=2.0))


def test_an_open_loop_has_its_connections_ready(server: FakeServer) -> None:
    result = measured(server, concurrency=None, rate=5.0, requests=6, seconds=5)
    assert server.served - len(result.run.records) == 20


def test_requests_that_are_cut_were_in_flight_all_the_same() -> None:
    done = Request(0, 1, 10.0, 10.0, 12.0, arrivals=array("d", [12.0]), counts=array("l", [1]))
    done.final = Final(1, 8, 0, "x")
    cut = [Request(n, 9, 10.0, 10.0, cut=True) for n in (1, 2, 3)]
    shape = Shape(concurrency=4, seconds=2.0)
    run = LevelRun(shape, "random-words", False, (done, *cut), 10.0, 14.0, 0, 1.0, 1.0, 1.0, ServerSeen())
    assert sum_up(run).concurrency == pytest.approx(4)


def slow_level(turn_ms: float, output_tokens: Span, seconds: float, drain_s: float) -> LevelResult:
    """Four clients on a server whose turn is the same however many requests it runs."""
    with FakeServer(base_ms=turn_ms, per_request_ms=0) as server:
        shape = Shape(concurrency=4, seconds=seconds, input_tokens=Span(4, 4), output_tokens=output_tokens)
        prompts = WordPrompts(shape.input_tokens, shape.output_tokens, shape.seed)
        return sum_up(asyncio.run(run_level(server.endpoint, shape, prompts, drain_s=drain_s)))


def test_a_server_too_slow_for_one_whole_answer_is_measured_by_the_tokens_that_came() -> None:
    result = slow_level(turn_ms=100, output_tokens=Span(500, 500), seconds=1.5, drain_s=0.5)
    row = result.row()
    assert (row["completed"], row["cut"], row["failed"]) == (0, 4, 0)
    assert row["mean_itl_ms"] == pytest.approx(100, rel=0.15)
    assert row["mean_tpot_ms"] == pytest.approx(100, rel=0.15)
    assert row["output_throughput"] == pytest.approx(4 / 0.1, rel=0.2)
    assert row["concurrency"] == pytest.approx(4, rel=0.1)
    assert row["duration"] == pytest.approx(2.0, abs=0.25)
    assert row["median_e2e_latency_ms"] is None
    assert row["total_input_tokens"] is None
    assert any("no request was answered whole, 4 cut" in remark for remark in result.warnings)


def test_where_only_the_short_answers_ended_the_rate_is_that_of_all_requests_in_flight() -> None:
    done = Request(0, 3, 10.0, 10.0, 13.0, arrivals=array("d", [11.0, 12.0, 13.0]), counts=array("l", [1, 2, 3]))
    done.final = Final(3, 8, 0, "x")
    long = [
        Request(n, 99, 10.0, 10.0, 15.0, cut=True, arrivals=array("d", [11.0, 12.0, 13.0, 14.0, 15.0]),
                counts=array("l", [1, 2, 3, 4, 5]))
        for n in (1, 2, 3)
    ]  # fmt: skip
    run = LevelRun(
        Shape(concurrency=4, seconds=2.0), "random-words", False, (done, *long), 10.0, 15.0, 0, 1.0, 1.0, 1.0,
        ServerSeen(),
    )  # fmt: skip
    result = sum_up(run)
    assert result.duration_s == 3.0  # all four are at work until the short one ends
    assert result.output_tokens == 12
    assert result.output_throughput == 4.0
    assert result.concurrency == 4.0
    assert (result.itl.mean, result.itl.count, result.ttft.count, result.e2e.count) == (1000.0, 8, 4, 1)
    assert any("only 1 of 4 requests were answered whole, 3 cut" in remark for remark in result.warnings)
