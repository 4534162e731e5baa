"""Throughput of a stretch of load without the error of its ends: the one to compare settings by.

Tokens come in bursts, one for each slot and turn, and a window holds one burst more or less wherever it is cut. So each
request's tokens are spread evenly over the time it took, from when it was sent to its last token, and what falls into
the window counts. On an eight-client load with turns of 0.4 s the rates of 15 s stretches then scatter by 1.1 % in
place of 1.9 %, and the scatter within a stretch tells what its mean is worth.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ppagent.bench.record import Request
from ppagent.bench.statistics import error_share
from ppagent.bench.steady import MOST_BLOCKS, Rate, Window

LEAST_KEPT = 0.75
"""At most the last quarter of a window is given up for requests whose first token had not come by its end."""
BLOCK_LATENCIES = 0.5
"""Length of a block in mean latencies: shorter ones would repeat each other, since a request lies in several."""

Stretch = tuple[float, float, float]
"""(begin, end, tokens a second between them)."""


def smooth_rate(records: Iterable[Request], window: Window) -> Rate | None:
    """The rate in `window`, one standard error of it, and the rates of blocks of it; None where hardly a token came."""
    there = [record for record in records if record.sent_at and record.sent_at < window.end]
    seen = Window(window.begin, _known_until(there, window))
    stretches = [stretch for record in there if (stretch := _stretch(record, seen.end)) is not None]
    inside = [(begin, end, rate) for begin, end, rate in stretches if end > seen.begin]
    tokens = _tokens(inside, seen.begin, seen.end)
    if tokens < 2 or seen.seconds <= 0:
        return None
    count = _block_count(inside, seen.seconds)
    length = seen.seconds / count
    blocks = tuple(
        _tokens(inside, seen.begin + n * length, seen.begin + (n + 1) * length) / length for n in range(count)
    )
    return Rate(tokens / seen.seconds, seen.seconds, round(tokens), error_share(blocks), blocks)


def _known_until(there: Sequence[Request], window: Window) -> float:
    """The time up to which every request in flight has shown how fast it is."""
    until = window.end
    for record in there:
        if record.ended and record.ended_at <= window.end:
            continue
        known = bisect_right(record.arrivals, window.end)
        until = min(until, record.arrivals[known - 1] if known else record.sent_at)
    return max(until, window.begin + LEAST_KEPT * window.seconds)


def _stretch(record: Request, until: float) -> Stretch | None:
    """A request's tokens up to `until`, and the first after it, spread over its time."""
    count = min(len(record.arrivals), bisect_right(record.arrivals, until) + 1, len(record.counts))
    if not count:
        return None
    last = record.arrivals[count - 1]
    return (record.sent_at, last, record.counts[count - 1] / (last - record.sent_at)) if last > record.sent_at else None


def _tokens(stretches: Iterable[Stretch], begin: float, end: float) -> float:
    return math.fsum(
        rate * (min(last, end) - max(first, begin)) for first, last, rate in stretches if last > begin and first < end
    )


def _block_count(stretches: Sequence[Stretch], seconds: float) -> int:
    latency_s = math.fsum(end - begin for begin, end, _ in stretches) / len(stretches)
    return max(1, min(MOST_BLOCKS, int(seconds / (BLOCK_LATENCIES * latency_s)))) if latency_s else 1
