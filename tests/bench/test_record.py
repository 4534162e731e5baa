import pytest

from ppagent.bench.record import Request


def taken(events: list[tuple[float, int]], *, due: float = 0.0, asked: int = 4) -> Request:
    record = Request(0, asked, due, sent_at=due)
    for time, tokens in events:
        record.take(b'{"text":"x","meta_info":{"prompt_tokens":5,"completion_tokens":%d}}' % tokens, time)
    record.take(b"[DONE]", events[-1][0])
    record.close(events[-1][0] + 1)
    return record


def test_times_count_from_when_a_request_was_due_and_not_from_when_it_was_sent() -> None:
    record = Request(0, 1, intended_at=10.0, sent_at=12.0)
    record.take(b'{"meta_info":{"completion_tokens":1}}', 13.0)
    record.close(13.5)
    assert record.ttft_s == pytest.approx(3.0)
    assert record.client_wait_s == pytest.approx(2.0)
    assert record.latency_s == pytest.approx(3.0)


def test_tokens_that_came_together_share_the_time_before_them() -> None:
    record = taken([(1.0, 1), (1.6, 3), (1.7, 4)])
    assert record.itls_s() == pytest.approx([0.3, 0.3, 0.1])
    assert record.tpot_s == pytest.approx(0.7 / 3)


def test_an_answer_that_stopped_early_is_counted_by_what_came() -> None:
    record = taken([(1.0, 1), (2.0, 2)], asked=100)
    assert record.tokens == 2
    assert record.tpot_s == pytest.approx(1.0)


def test_a_repeated_event_is_no_token() -> None:
    assert taken([(1.0, 1), (1.5, 1), (2.0, 2)]).itls_s() == pytest.approx([1.0])


def test_one_token_has_no_time_between_tokens() -> None:
    record = taken([(1.0, 1)])
    assert record.tpot_s is None
    assert record.itls_s() == []


def test_a_refusal_is_an_error_with_its_text() -> None:
    record = Request(0, 1, 0.0)
    record.close(1.0, 503, b"overloaded")
    assert not record.succeeded
    assert record.error == "HTTP 503: overloaded"


def test_an_error_within_the_stream_is_an_error_although_tokens_came() -> None:
    record = Request(0, 9, 0.0)
    record.take(b'{"meta_info":{"completion_tokens":1}}', 1.0)
    record.take(b'{"error": {"message": "lost a stage"}}', 2.0)
    record.close(2.0)
    assert record.error == "lost a stage"


def test_an_answer_without_a_token_is_an_error() -> None:
    record = Request(0, 9, 0.0)
    record.close(1.0)
    assert record.error == "the response holds no token"
