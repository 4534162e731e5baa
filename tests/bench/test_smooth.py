import random
from array import array
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.record import Request
from ppagent.bench.smooth import smooth_rate
from ppagent.bench.steady import Window, token_times


def request(sent: float, arrivals: list[float], *, ended: bool = True) -> Request:
    record = Request(0, len(arrivals), sent, sent, arrivals[-1] if ended and arrivals else 0.0)
    record.arrivals, record.counts = array("d", arrivals), array("l", range(1, len(arrivals) + 1))
    return record


def clumped(seed: int, seconds: float, turn_s: float = 0.4, clients: int = 8) -> list[Request]:
    """Clients whose tokens all come at the same moment of a turn, with answers of 10 to 26 tokens and short pauses."""
    draw = random.Random(seed)
    found: list[Request] = []
    for client in range(clients):
        at = 0.5 + client * 0.01
        while at < seconds:
            first = (int(at / turn_s) + 2) * turn_s
            tokens = draw.randint(10, 26)
            found.append(request(at, [first + n * turn_s for n in range(tokens)]))
            at = found[-1].ended_at + draw.uniform(0.05, 0.15)
    return found


def at_time(records: list[Request], now: float) -> list[Request]:
    """What was known at that time."""
    known = []
    for record in records:
        if record.sent_at < now:
            arrivals = [time for time in record.arrivals if time <= now]
            known.append(request(record.sent_at, arrivals, ended=record.ended_at <= now))
    return known


def test_a_steady_load_has_its_rate_whatever_the_window() -> None:
    records = [request(n, [n + 0.1 * (k + 1) for k in range(10)]) for n in range(40)]
    for begin, end in ((5.0, 15.0), (5.03, 14.96), (7.5, 31.2)):
        found = smooth_rate(records, Window(begin, end))
        assert found is not None
        assert found.tokens_per_s == pytest.approx(10)
        assert found.error_share == pytest.approx(0, abs=1e-6)


def test_its_stretches_scatter_less_than_counted_tokens_do_and_as_much_as_it_says() -> None:
    records = clumped(1, 400)
    windows = [Window(10 + 16.13 * n, 25.1 + 16.13 * n) for n in range(22)]
    smooth = [rate for window in windows if (rate := smooth_rate(at_time(records, window.end), window)) is not None]
    counted = [sum(n for _, n in token_times(records, window)) / window.seconds for window in windows]
    found = stdev(rate.tokens_per_s for rate in smooth) / fmean(rate.tokens_per_s for rate in smooth)
    assert found < 0.7 * stdev(counted) / fmean(counted)
    said = fmean((rate.error_share or 0) ** 2 for rate in smooth) ** 0.5
    assert 0.4 < said / found < 2.5


def test_what_is_not_known_yet_at_the_end_is_left_out() -> None:
    done = [request(n, [n + 0.1 * (k + 1) for k in range(10)]) for n in range(10)]
    waiting = request(9.4, [], ended=False)
    found = smooth_rate([*done, waiting], Window(2, 10))
    assert found is not None
    assert found.seconds == pytest.approx(7.4)
    assert found.tokens_per_s == pytest.approx(10)


def test_a_request_that_waits_for_long_costs_a_quarter_of_the_window_at_most() -> None:
    done = [request(n, [n + 0.1 * (k + 1) for k in range(10)]) for n in range(10)]
    found = smooth_rate([*done, request(1, [], ended=False)], Window(2, 10))
    assert found is not None
    assert found.seconds == pytest.approx(6)


@given(st.integers(0, 99), st.floats(1, 20), st.floats(2, 20))
def test_the_blocks_average_to_the_rate(seed: int, begin: float, seconds: float) -> None:
    found = smooth_rate(clumped(seed, 45, clients=2), Window(begin, begin + seconds))
    assert found is not None
    assert fmean(found.blocks) == pytest.approx(found.tokens_per_s)
    assert found.tokens_per_s > 0


def test_hardly_a_token_is_no_rate() -> None:
    assert smooth_rate([], Window(0, 10)) is None
    assert smooth_rate([request(1, [2.0])], Window(0, 10)) is None
