import itertools
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ppagent.bench.control import Control
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.sglang.metrics import parse_metrics
from ppagent.trials import observed
from ppagent.trials.change import LiveChange
from ppagent.trials.limit import read_limit
from ppagent.trials.live import run_live
from ppagent.trials.note import read_note
from ppagent.trials.observed import ObservedTraffic, samples
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.phase import Phase
from ppagent.trials.reading import Reading, read, thinned
from tests.bench.fakes import FakeServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "SHORTEST_BLOCK_S", 0.1)
    monkeypatch.setattr(observed, "SHORTEST_SETTLE_S", 0.3)
    monkeypatch.setattr(observed, "BLIND_SETTLE_S", 0.2)


SHORT = Span(6, 14)


@contextmanager
def traffic(server: FakeServer, concurrency: int = 8, tokens: Span = SHORT) -> Iterator[None]:
    """Other people's requests."""
    shape = Shape(concurrency=concurrency, input_tokens=Span(4, 4), output_tokens=tokens)
    load = OwnLoad(server.endpoint, shape, PromptSource())
    thread = threading.Thread(target=load.start)
    thread.start()
    thread.join()
    try:
        yield
    finally:
        load.stop(wait=False)


def test_the_traffic_of_others_shows_the_gain_and_nothing_is_sent() -> None:
    with FakeServer(base_ms=3, per_request_ms=1.5) as server, traffic(server):
        control = Control(server.endpoint)
        change = LiveChange(control, server.url, read_limit(control), 2)
        outcome = run_live(change, ObservedTraffic(control), seconds=3.0)
        assert outcome.comparison.outcome == "better"
        assert outcome.traffic.startswith("the traffic that is there")
        assert server.limit == 16


def test_without_traffic_nothing_is_changed() -> None:
    with FakeServer() as server:
        control = Control(server.endpoint)
        change = LiveChange(control, server.url, read_limit(control), 2)
        with pytest.raises(ToolError, match="no traffic"):
            run_live(change, ObservedTraffic(control), seconds=0.5)
        assert server.settings == []


def test_without_metrics_nothing_can_be_observed() -> None:
    with FakeServer(with_metrics=False) as server, pytest.raises(ToolError, match="metrics"):
        ObservedTraffic(Control(server.endpoint)).start()


def phase(tokens_per_s: float, in_flight: float | None, itl_ms: float | None) -> Phase:
    return Phase("A", tokens_per_s, 0.01, 10, in_flight, itl_ms)


def test_where_the_load_stayed_throughput_is_compared() -> None:
    found, unit = samples([phase(100, 8, 80), phase(200, 8.2, 40), phase(101, 8.1, 80)])
    assert unit == "tok/s"
    assert [sample.value for sample in found] == [100, 200, 101]


def test_where_the_load_moved_the_speed_of_one_request_is_compared() -> None:
    found, unit = samples([phase(100, 8, 80), phase(50, 4, 40), phase(101, 8, 80)])
    assert unit == "tok/s of one request"
    assert [sample.value for sample in found] == pytest.approx([12.5, 25, 12.5])


def test_a_load_that_few_ends_tell_of_has_not_moved_for_sure() -> None:
    told = [replace(phase(rate, load, 80), in_flight_error=0.35) for rate, load in ((100, 8), (200, 10), (101, 9))]
    assert samples(told)[1] == "tok/s"


def test_without_latencies_throughput_is_all_there_is() -> None:
    assert samples([phase(100, None, None), phase(50, None, None)])[1] == "tok/s"


def test_a_change_is_measured_once_those_in_flight_have_been_replaced_twice_over() -> None:
    with FakeServer(base_ms=3, per_request_ms=1.5) as server, traffic(server):
        meter = ObservedTraffic(Control(server.endpoint))
        meter.settle()
        assert meter.measure("A", 1.0).in_flight == pytest.approx(8, rel=0.25)
        meter.note_change()
        ended = int(re.match(r"(\d+) requests ended since, of [789] in flight$", meter.settle())[1])  # type: ignore[index]
        assert ended >= 14


def test_where_no_request_ends_it_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "LONGEST_SETTLE_S", 0.5)
    monkeypatch.setattr(observed, "LONGEST_MEASURE_S", 1.5)
    with FakeServer(base_ms=3, per_request_ms=1.5) as server:
        meter = ObservedTraffic(Control(server.endpoint))
        with traffic(server):
            meter.measure("A", 1.0)
        meter.note_change()
        assert meter.settle().endswith("in flight; not waited for longer than 0 s")


def test_a_measurement_lasts_until_as_many_have_ended_as_are_in_flight() -> None:
    """Answers of 400 tokens at 10 ms each, in an eighth of the time that one takes."""
    with FakeServer(base_ms=10, per_request_ms=0) as server, traffic(server, tokens=Span(400, 400)):
        phase = ObservedTraffic(Control(server.endpoint)).measure("A", 0.5)
        assert phase.completed >= 7
        assert 0.5 < phase.seconds < 10
        assert len(phase.blocks) <= 10


def test_stretches_are_few_and_of_one_length() -> None:
    readings = [Reading(at, at, None, None, None, None) for at in range(34)]
    assert [reading.at for reading in thinned(readings, 10)] == [0, 3, 7, 10, 13, 16, 20, 23, 26, 30, 33]
    assert thinned(readings[:8], 10) == readings[:8]


def test_tokens_are_counted_as_they_are_handed_out_where_the_server_tells() -> None:
    lumps = 'sglang:generation_tokens_total{model_name="m"} 400\nsglang:realtime_tokens_total{mode="decode"} 328\n'
    streamed = "sglang:time_to_first_token_seconds_count 9\nsglang:inter_token_latency_seconds_count 531\n"
    assert read(parse_metrics(lumps + streamed), 0.0).tokens == 540
    assert read(parse_metrics(lumps), 0.0).tokens == 400
    with pytest.raises(ToolError, match="no generation_tokens_total"):
        read(parse_metrics("sglang:num_running_reqs 4\n"), 0.0)


@pytest.mark.parametrize("nth", [1, 4, 12, 16, 24])
def test_ctrl_c_in_any_wait_for_the_traffic_of_others_puts_the_setting_back(
    nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = itertools.count(1)

    def sleep(seconds: float) -> None:
        if next(waits) == nth:
            raise KeyboardInterrupt
        time.sleep(seconds)

    monkeypatch.setattr(observed, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    with FakeServer(base_ms=3, per_request_ms=1.5) as server, traffic(server):
        control = Control(server.endpoint)
        change = LiveChange(control, server.url, read_limit(control), 2)
        with pytest.raises(KeyboardInterrupt):
            run_live(change, ObservedTraffic(control), seconds=1.0)
        assert server.limit == 16
        assert read_note(server.url) is None
