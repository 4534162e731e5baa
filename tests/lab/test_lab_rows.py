"""What the lab's clients count."""

import pytest

from ppagent_lab.load import Request, start_spread_s
from ppagent_lab.rows import Window, bench_row, spread_of, tokens_per_s
from ppagent_lab.shapes import Load

LOAD = Load(clients=2, input_tokens=(64, 64), output_tokens=(4, 4))


def request(sent_at: float, *tokens: float, done: bool = True) -> Request:
    return Request(sent_at, 64, len(tokens), list(tokens), done_at=tokens[-1] if done else None)


def test_only_tokens_of_the_window_count_and_latencies_are_those_of_requests_that_ended_in_it() -> None:
    requests = [request(0, 1, 2, 3, 4), request(9, 10, 10.5, 11, 11.5), request(11, 12, 13, done=False)]
    row = bench_row(requests, Window(3, 13), LOAD)
    assert row["output_throughput"] == pytest.approx(0.7)  # 3, 4, 10, 10.5, 11, 11.5 and 12 of ten seconds
    assert row["completed"] == 2
    assert row["mean_ttft_ms"] == 1000.0
    assert row["mean_tpot_ms"] == 750.0  # one token a second, and two
    assert row["mean_e2e_latency_ms"] == 3250.0


def test_the_spread_is_that_of_the_quarters() -> None:
    requests = [request(0, *[n / 10 for n in range(1, 11)]), request(0, 2.5, 3.5)]
    assert spread_of(requests, Window(0, 4)) == (1.0, 9.0)
    assert tokens_per_s(requests, Window(0, 4)) == 3.0


def test_two_tokens_in_one_event_count_as_two_and_other_lines_as_none() -> None:
    taken = Request(0.0, 64, 3)
    for line in ('data: {"meta_info": {"completion_tokens": 1}}', "", 'data: {"meta_info": {"completion_tokens": 3}}'):
        taken.take(line)
    taken.take("data: [DONE]")
    assert len(taken.token_times) == 3


def test_many_clients_start_within_a_few_seconds_and_a_burst_at_once() -> None:
    assert start_spread_s(Load(clients=4)) == pytest.approx(2.1)
    assert start_spread_s(Load(clients=32)) == 6.0
    assert start_spread_s(Load(clients=32, arrival="burst")) == 0.0
