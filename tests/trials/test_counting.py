"""Counters that go back, stand still, are missing or are no numbers, and what a trial makes of them."""

import itertools
from typing import cast

import pytest

from ppagent.bench.control import Control
from ppagent.errors import ToolError
from ppagent.sglang.metrics import Scrape, parse_metrics
from ppagent.trials import counting, observed
from ppagent.trials.counting import Counting
from ppagent.trials.observed import ObservedTraffic
from ppagent.trials.reading import ENDED, STREAMED, in_flight, itl_s_of, read, token_counters


def scrape(**counters: object) -> Scrape:
    """`firsts`, `gaps`, `gap_s`, `ended`, `spent_s` and `made`, as a server states them."""
    names = {
        "firsts": "time_to_first_token_seconds_count",
        "gaps": "inter_token_latency_seconds_count",
        "gap_s": "inter_token_latency_seconds_sum",
        "ended": "e2e_request_latency_seconds_count",
        "spent_s": "e2e_request_latency_seconds_sum",
        "made": "generation_tokens_total",
    }
    return parse_metrics("".join(f"sglang:{names[name]} {value}\n" for name, value in counters.items()))


class Told:
    """A server whose counters are told one look after the other, the last one again and again."""

    def __init__(self, *scrapes: Scrape) -> None:
        self._left = itertools.chain(scrapes, itertools.repeat(scrapes[-1]))

    def metrics(self) -> Scrape:
        return next(self._left)


def counted(*scrapes: Scrape) -> Control:
    return cast(Control, Told(*scrapes))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "SHORTEST_BLOCK_S", 0.01)
    monkeypatch.setattr(observed, "SHORTEST_SETTLE_S", 0.01)
    monkeypatch.setattr(observed, "BLIND_SETTLE_S", 0.01)
    monkeypatch.setattr(observed, "LONGEST_SETTLE_S", 0.1)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-3"])
def test_a_counter_that_is_no_number_is_as_one_that_is_not_there(value: str) -> None:
    with pytest.raises(ToolError, match="no generation_tokens_total"):
        read(scrape(made=value), 0.0)
    assert read(scrape(firsts=3, gaps=value, made=70), 0.0).tokens == 70
    reading = read(scrape(made=5, ended=value, spent_s=value, gaps=value, gap_s=value), 0.0)
    assert (reading.latency_count, reading.latency_sum_s, reading.itl_count, reading.itl_sum_s) == (None,) * 4


def test_answers_that_are_not_streamed_are_counted_by_what_ended() -> None:
    # Twenty answers of 40 tokens that came in one piece, and one of 40 that was streamed: 21 firsts, 39 gaps.
    assert token_counters(scrape(firsts=21, gaps=39, made=840)) == ENDED
    assert token_counters(scrape(firsts=21, gaps=800, made=840)) == STREAMED
    assert token_counters(scrape(firsts=21, gaps=800)) == STREAMED
    assert token_counters(scrape(firsts=21, made=840)) == ENDED


def test_a_histogram_that_appears_in_the_middle_does_not_change_what_is_counted() -> None:
    counting = Counting(counted(scrape(made=100), scrape(firsts=5, gaps=160, made=140)))
    assert (counting.read().tokens, counting.read().tokens) == (100, 140)


@pytest.mark.parametrize("back", [{"made": 3}, {"ended": 0}, {"gaps": 2}])
def test_a_counter_that_goes_back_is_a_server_that_was_restarted(back: dict[str, int]) -> None:
    told = {"made": 100, "ended": 7, "gaps": 90}
    counting = Counting(
        counted(scrape(**told), scrape(**{**told, "made": 120}), scrape(**{**told, "made": 130, **back}))
    )
    counting.read()
    counting.read()
    with pytest.raises(ToolError, match="restarted while it was measured"):
        counting.read()


def test_a_restart_in_mid_trial_is_found_out_though_the_new_servers_counters_are_ahead_in_the_end() -> None:
    meter = ObservedTraffic(counted(scrape(made=100, ended=1), scrape(made=5, ended=1), scrape(made=900, ended=9)))
    with pytest.raises(ToolError, match="restarted"):
        meter.measure("A", 0.05)


def test_traffic_that_stops_ends_the_measurement_where_tokens_are_counted_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "SILENT_S", 0.05)
    flowing = scrape(firsts=5, gaps=150, gap_s=3), scrape(firsts=5, gaps=160, gap_s=3.2)
    with pytest.raises(ToolError, match="the traffic stopped: no token for"):
        ObservedTraffic(counted(*flowing)).measure("A", 5.0)
    lumps = ObservedTraffic(counted(scrape(made=100), scrape(made=140))).measure("A", 0.2)
    assert lumps.tokens_per_s == pytest.approx(200, rel=0.3)


def test_tokens_that_take_no_time_tell_nothing_of_the_requests_in_flight() -> None:
    first, last = (
        read(scrape(firsts=5, gaps=gaps, gap_s=0, ended=ended, spent_s=2 * ended), at)
        for gaps, ended, at in ((100, 10, 0.0), (200, 20, 5.0))
    )
    assert itl_s_of(first, last) is None
    assert in_flight(first, last) == pytest.approx(20 / 5)


def test_requests_that_have_not_turned_over_are_told_with_the_measurement() -> None:
    flow = [scrape(firsts=10, gaps=100 * n, gap_s=40 * n, ended=2, spent_s=9) for n in range(1, 400)]
    meter = ObservedTraffic(counted(*flow))
    monkey = pytest.MonkeyPatch()
    monkey.setattr(observed, "LONGEST_MEASURE_S", 0.2)
    try:
        assert meter.measure("A", 0.05).unsettled == ""
        meter.note_change()
        assert meter.settle().endswith("not waited for longer than 0 s")
        left = meter.measure("B", 0.05).unsettled
    finally:
        monkey.undo()
    assert left.startswith("0 requests ended since, of ")
    assert left.endswith(" in flight, 0 s after the change")


def test_a_server_that_does_not_tell_what_ends_is_not_taken_for_settled() -> None:
    meter = ObservedTraffic(counted(*[scrape(made=100 * n) for n in range(1, 100)]))
    meter.measure("A", 0.05)
    meter.note_change()
    meter.settle()
    assert "does not tell how many ended" in meter.measure("B", 0.05).unsettled
