from array import array

import pytest

from ppagent.bench.partial import all_at_work_until, gaps_in, seen_until
from ppagent.bench.record import Request
from ppagent.bench.steady import Window


def request(client: int, *arrivals: float, counts: tuple[int, ...] = (), ended: bool = False) -> Request:
    told = counts or tuple(range(1, len(arrivals) + 1))
    record = Request(client, 99, 0.0, 0.1, arrivals=array("d", arrivals), counts=array("l", told), cut=not ended)
    record.ended_at = arrivals[-1] if ended else 0.0
    return record


def test_a_request_is_seen_with_the_tokens_that_it_had_by_then() -> None:
    early, late = request(0, 1.0, 2.0, 3.0), request(1, 2.5)
    (seen,) = seen_until((early, late), 2.0)
    assert (seen.tokens, seen.tpot_s, list(seen.arrivals)) == (2, 1.0, [1.0, 2.0])
    assert early.tokens == 3


def test_gaps_are_those_of_the_tokens_that_came_in_the_window() -> None:
    records = (request(0, 1.0, 2.0, 3.0, 4.0), request(1, 1.5, 3.5, counts=(1, 5)))
    assert gaps_in(records, Window(1.5, 3.5)) == [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]
    assert gaps_in(records, Window(4.5, 9.0)) == []


def test_all_are_at_work_until_the_first_client_is_done() -> None:
    records = (request(0, 1.0, 3.0, ended=True), request(1, 1.0, 9.0), request(2, 1.0, 9.0))
    assert all_at_work_until(records, False, 5.0) == pytest.approx(3.0)
    assert all_at_work_until(records, True, 5.0) == 5.0
    assert all_at_work_until((request(0),), False, 5.0) == 5.0
