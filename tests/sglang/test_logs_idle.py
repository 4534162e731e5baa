"""Gaps in a log: idling, stalls, slow stretches, and when each rank was seen last."""

from datetime import timedelta

import pytest
from log_lines import OLD, START, decode, note, prefill, read, read_log_text

from ppagent.sglang.logs.prefix import Ranks


def test_the_line_after_an_idle_gap_is_left_out_of_throughput() -> None:
    (stats,) = read_log_text(OLD.read_bytes()).current.decode
    assert stats.left_out == 2
    assert stats.tokens_per_s is not None
    assert stats.tokens_per_s.count == 4
    assert stats.tokens_per_s.mean == pytest.approx((80.12 + 60 + 40 + 20) / 4)


def test_slow_decode_lines_are_not_taken_for_idle_gaps() -> None:
    lines = [decode(second, 4, 10.0) for second in range(0, 400, 15)]
    (stats,) = read(*lines).current.decode
    assert stats.left_out == 1
    assert stats.longest_stall_s == 15.0


def test_silence_before_a_prefill_makes_the_next_decode_line_an_idle_one() -> None:
    busy = [decode(second, 4, 100.0) for second in range(10)]
    (stats,) = read(*busy, prefill(3600), decode(3601, 1, 0.2), decode(3602, 1, 30.0)).current.decode
    assert stats.left_out == 2
    assert stats.tokens_per_s is not None
    assert (stats.tokens_per_s.low, stats.tokens_per_s.count) == (30.0, 10)


def test_long_prefills_between_decode_lines_are_no_idle_gap() -> None:
    lines = [decode(0, 4), decode(1, 4), *(prefill(2 + 3 * n) for n in range(5)), decode(18, 4, 7.0), decode(19, 4)]
    stretch = read(*lines).current
    (stats,), (prefills,) = stretch.decode, stretch.prefill
    assert stats.left_out == 1
    assert stats.tokens_per_s is not None
    assert stats.tokens_per_s.low == 7.0
    assert prefills.longest_run == 5


def test_a_stall_without_new_requests_is_told_from_an_idle_gap() -> None:
    lines = [decode(0, 4), decode(1, 4), prefill(500), decode(501, 4), decode(561, 4), decode(562, 4)]
    (stats,) = read(*lines).current.decode
    assert stats.longest_stall_s == 60.0


def test_each_rank_is_last_seen_at_its_last_batch_line() -> None:
    lines = [decode(second, 4, tags=f" PP{pp}") for second in range(4) for pp in range(4)]
    late = [decode(4, 4, tags=f" PP{pp}") for pp in (0, 1, 3)]
    hang = note(310, "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", " PP3")
    stretch = read(*lines, *late, hang).current
    seen_s = {seen.ranks.pp: (seen.at - START).total_seconds() for seen in stretch.last_seen if seen.at is not None}
    assert seen_s == {0: 4, 1: 4, 2: 3, 3: 4}
    assert stretch.troubles["watchdog_timeout"].first[0].ranks == Ranks(pp=3)
    assert stretch.last_at == START + timedelta(seconds=310)


def test_a_slow_stretch_without_a_new_request_is_no_idling() -> None:
    fast = [decode(second, 4, rate=400.0, tokens=1000 + 160 * second) for second in range(10)]
    slow = [decode(10 + 9 * n, 4, rate=18.0, tokens=2600 + 160 * n) for n in range(1, 7)]
    again = [decode(10 + 9 * n, 4, rate=18.0, tokens=500) for n in range(1, 7)]

    stats = read(*fast, *slow).current.decode[0]
    assert (stats.left_out, stats.tokens_per_s is not None and stats.tokens_per_s.low) == (1, 18.0)
    other_requests = read(*fast, *again).current.decode[0]
    assert other_requests.left_out == 7, "the first line of all has nothing before it to average over"
    served = read(prefill(0), *fast, *slow).current.decode[0]
    assert served.left_out == 1
    between = [line for n, line in enumerate(slow) for line in (prefill(10 + 9 * n + 8), line)]
    assert read(prefill(0), *fast, *between).current.decode[0].left_out == 7
