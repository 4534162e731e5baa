import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.record import Request
from ppagent.bench.steady import Window, longest_full, rate_over, steady_window


def streamed(client: int, begin: float, times: list[float]) -> Request:
    record = Request(client, len(times), begin, sent_at=begin)
    for count, time in enumerate(times, 1):
        record.arrivals.append(time)
        record.counts.append(count)
    record.ended_at = times[-1]
    return record


def ring(clients: int, turn_s: float, seconds: float, begin: float = 0.0) -> list[Request]:
    """All clients get a token at the same moments, as in one slot of a pipeline."""
    times = [begin + turn_s * n for n in range(1, int(seconds / turn_s) + 1)]
    return [streamed(client, begin, times) for client in range(clients)]


def test_a_burst_more_or_less_at_the_edges_changes_nothing() -> None:
    records = ring(8, 0.5, 40)
    for begin, end in ((0.4, 20.1), (0.6, 20.6), (3.3, 33.7)):
        rate = rate_over(records, Window(begin, end))
        assert rate is not None
        assert rate.tokens_per_s == pytest.approx(16.0, rel=1e-6)
        assert rate.error_share == pytest.approx(0.0, abs=1e-9)


def test_a_window_with_hardly_a_burst_has_no_rate() -> None:
    assert rate_over(ring(8, 0.5, 40), Window(1.1, 1.6)) is None
    assert rate_over([], Window(0, 1)) is None


def test_a_rate_of_too_few_bursts_does_not_claim_an_error() -> None:
    rate = rate_over(ring(4, 1.0, 8), Window(0, 9))
    assert rate is not None
    assert rate.error_share is None


def test_a_server_that_speeds_up_has_a_wide_error() -> None:
    records = [*ring(4, 0.4, 20), *ring(4, 0.1, 20, begin=20.0)]
    rate = rate_over(records, Window(0, 40))
    assert rate is not None
    assert rate.error_share is not None
    assert rate.error_share > 0.1


@given(st.integers(1, 12), st.floats(0.01, 2.0), st.integers(40, 200), st.floats(0, 1), st.floats(0, 1))
def test_the_rate_of_an_even_ring_is_its_rate(clients: int, turn_s: float, turns: int, cut: float, late: float) -> None:
    records = ring(clients, turn_s, turn_s * (turns + 0.5))
    window = Window(cut * turn_s, turn_s * (turns - 3 + late))
    rate = rate_over(records, window)
    assert rate is not None
    assert rate.tokens_per_s == pytest.approx(clients / turn_s, rel=1e-6)


def test_the_steady_part_is_where_nine_tenths_of_the_clients_are_at_work() -> None:
    spans = [(float(n), 100.0 + n) for n in range(10)]
    window = longest_full(spans)
    assert window == Window(8.0, 101.0)


def test_a_client_that_thinks_is_still_there() -> None:
    records = [streamed(0, 0.0, [1.0]), streamed(0, 5.0, [6.0]), streamed(1, 0.0, [6.0])]
    assert steady_window(records, open_loop=False) == Window(0.0, 6.0)


def test_the_steady_part_of_an_open_loop_begins_when_the_first_is_answered() -> None:
    records = [streamed(0, 0.0, [2.0]), streamed(1, 1.0, [3.0]), streamed(2, 9.0, [11.0])]
    assert steady_window(records, open_loop=True) == Window(2.0, 9.0)


def test_nothing_sent_has_no_steady_part() -> None:
    assert longest_full([]) is None
    assert steady_window([], open_loop=False) is None
    assert steady_window([], open_loop=True) is None
