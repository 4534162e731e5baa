"""The steady part of a run, and its throughput without the error that bursts of tokens make at its ends.

Under a pipeline all requests of a slot get their token at the same moment. A window cut anywhere would hold one burst
more or less, which is several percent of a short run. So windows begin and end in the silence between bursts.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppagent.bench.record import Request
from ppagent.bench.statistics import error_share

FULL_SHARE = 0.9
"""Steady is where at least this share of the clients is at work."""
MOST_BLOCKS = 12
FEWEST_BURSTS_A_BLOCK = 4


@dataclass(frozen=True)
class Window:
    """A stretch of time, seconds of the client's clock."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return max(0.0, self.end - self.begin)


def longest_full(spans: Iterable[tuple[float, float]], share: float = FULL_SHARE) -> Window | None:
    """The longest stretch in which at least `share` of the largest overlap of `spans` is there."""
    changes: dict[float, int] = {}
    for begin, end in spans:
        if end > begin:
            changes[begin] = changes.get(begin, 0) + 1
            changes[end] = changes.get(end, 0) - 1
    times, level, levels = sorted(changes), 0, []
    for time in times:
        level += changes[time]
        levels.append(level)
    if not levels:
        return None
    least = max(1, math.ceil(share * max(levels)))
    full: list[Window] = []
    since: float | None = None
    for time, there in zip(times, levels, strict=True):
        if there >= least:
            since = time if since is None else since
        elif since is not None:
            full.append(Window(since, time))
            since = None
    return max(full, key=lambda window: window.seconds, default=None)


def client_spans(records: Sequence[Request]) -> list[tuple[float, float]]:
    """For each client of a closed loop, from its first request to its last answer: thinking counts as being there."""
    spans: dict[int, tuple[float, float]] = {}
    for record in records:
        if record.ended or record.cut:
            begin, end = spans.get(record.client, (record.sent_at, 0.0))
            spans[record.client] = (min(begin, record.sent_at), max(end, _last_seen(record)))
    return list(spans.values())


def steady_window(records: Sequence[Request], open_loop: bool) -> Window | None:
    """The steady part of a level. Of an open loop: from when the first requests were answered to the last arrival."""
    if not open_loop:
        return longest_full(client_spans(records))
    answered = sorted(record.ended_at for record in records if record.succeeded)
    if not answered:
        return None
    window = Window(answered[0], max(record.intended_at for record in records))
    return window if window.seconds > 0 else None


def token_times(records: Iterable[Request], window: Window) -> list[tuple[float, int]]:
    """Arrivals in the window: time, and how many tokens came. Tokens of failed requests were generated too."""
    found: list[tuple[float, int]] = []
    for record in records:
        before = 0
        # A load may still be running in its own thread: the last arrival can be there before its count.
        for time, count in zip(record.arrivals, record.counts, strict=False):
            if window.begin <= time <= window.end:
                found.append((time, count - before))
            before = count
    found.sort()
    return found


@dataclass(frozen=True)
class Rate:
    """Tokens a second over a window, with the error that its own scatter allows.

    `error_share` is one standard error as a share of the rate; None where there are too few bursts to tell.
    """

    tokens_per_s: float
    seconds: float
    tokens: int
    error_share: float | None
    blocks: tuple[float, ...] = ()


def rate_over(records: Iterable[Request], window: Window) -> Rate | None:
    """The rate in `window`; None where fewer than two bursts of tokens came."""
    arrivals = token_times(records, window)
    times = [time for time, _ in arrivals]
    cuts = _cuts(times, _block_count(times))
    if len(cuts) < 2:
        return None
    sums = _running_sums(arrivals)
    blocks = [
        (sums[end] - sums[begin]) / (times[end] - times[begin]) for begin, end in zip(cuts, cuts[1:], strict=False)
    ]
    tokens, seconds = sums[cuts[-1]] - sums[cuts[0]], times[cuts[-1]] - times[cuts[0]]
    return Rate(tokens / seconds, seconds, tokens, error_share(blocks), tuple(blocks))


def _running_sums(arrivals: Sequence[tuple[float, int]]) -> list[int]:
    """Tokens before each arrival."""
    sums = [0]
    for _, tokens in arrivals:
        sums.append(sums[-1] + tokens)
    return sums


def _bursts(times: Sequence[float]) -> int:
    """Moments at which tokens came: arrivals closer than a tenth of the typical silence are one."""
    if len(times) < 2:
        return len(times)
    silences = sorted(b - a for a, b in zip(times, times[1:], strict=False))
    least = 0.1 * silences[-max(1, len(silences) // 10)]
    return 1 + sum(1 for silence in silences if silence > least)


def _block_count(times: Sequence[float]) -> int:
    return max(1, min(MOST_BLOCKS, _bursts(times) // FEWEST_BURSTS_A_BLOCK))


def _cuts(times: Sequence[float], blocks: int) -> list[int]:
    """Places in `times` at which blocks begin, each after the longest silence near its due time."""
    if len(times) < 2:
        return []
    first, last = times[0], times[-1]
    reach = (last - first) / blocks / 3
    cuts: list[int] = []
    for n in range(blocks + 1):
        due = first + n * (last - first) / blocks
        low = max(1, bisect_left(times, due - reach))
        high = min(len(times) - 1, bisect_left(times, due + reach))
        if high < low:
            continue
        place = max(range(low, high + 1), key=lambda at: times[at] - times[at - 1])
        if not cuts or (place > cuts[-1] and times[place] > times[cuts[-1]]):
            cuts.append(place)
    return cuts


def _last_seen(record: Request) -> float:
    if record.ended:
        return record.ended_at
    return record.arrivals[-1] if record.arrivals else record.sent_at
