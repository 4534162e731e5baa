"""Batch lines with another's time in front, with half a time, or with none."""

import pytest
from log_lines import decode, read

BATCH = (
    "Decode batch. #running-req: 5, #token: 266623, token usage: 0.61, gen throughput (token/s): 136.00, #queue-req: 3"
)


@pytest.mark.parametrize(
    ("front", "tp"),
    [
        ("[2025-03-11 16:44:27] [2025-03-11 01:44:27 TP0] ", 0),
        ("[2025-03-11 16:44:27.123] [2025-03-11 01:44:27.456 TP0] ", 0),
        ("[10:22:51 TP0] ", 0),
        ("[gpu=0] ", None),
        ("", None),
    ],
)
def test_a_batch_line_is_counted_whatever_stands_in_front(front: str, tp: int | None) -> None:
    stats = read(front + BATCH, front + BATCH).current.decode[0]
    assert (stats.lines, stats.ranks.tp) == (2, tp)
    assert stats.running is not None and stats.running.p50 == 5
    assert stats.queue is not None and stats.queue.p50 == 3
    assert stats.token_usage is not None and stats.token_usage.p50 == 0.61
    assert stats.tokens_per_s is not None and stats.tokens_per_s.p50 == 136.0
    assert stats.examples["last"] == front + BATCH


def test_of_two_times_the_servers_own_counts() -> None:
    line = "[2025-03-11 16:44:27] [2025-03-11 01:44:27 TP0] " + BATCH
    seen = read(line).current.last_seen[0].at
    assert seen is not None and seen.hour == 1


def test_a_line_without_a_day_tells_no_time() -> None:
    current = read("[10:22:51 TP0] " + BATCH).current
    assert current.last_at is None
    assert current.last_seen[0].at is None


def test_in_a_log_with_times_a_line_without_one_is_what_somebody_wrote() -> None:
    assert read(decode(0, 3), BATCH, decode(1, 3)).current.decode[0].lines == 2
