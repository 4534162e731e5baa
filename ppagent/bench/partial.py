"""Requests by what had come of them at a time: a slow server is measured by its tokens, not by its last ones.

Where requests were still running at the end of a level, those that ended are the short ones. Their figures alone would
be a fraction of what the server gave, so everything that was in flight counts then, up to when a client was first done.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ppagent.bench.record import Request
from ppagent.bench.steady import Window, client_spans, longest_full


def seen_until(records: Iterable[Request], until: float) -> tuple[Request, ...]:
    """The requests that had a token by then, each with the tokens that it had."""
    seen: list[Request] = []
    for record in records:
        count = min(bisect_right(record.arrivals, until), len(record.counts))
        if count:
            seen.append(replace(record, arrivals=record.arrivals[:count], counts=record.counts[:count]))
    return tuple(seen)


def gaps_in(records: Iterable[Request], window: Window) -> list[float]:
    """Times between tokens, s, of those tokens that came in the window, whether or not their request has ended."""
    gaps: list[float] = []
    for record in records:
        count = min(bisect_right(record.arrivals, window.end), len(record.counts))
        for n in range(max(1, bisect_right(record.arrivals, window.begin)), count):
            new = record.counts[n] - record.counts[n - 1]
            gaps += [(record.arrivals[n] - record.arrivals[n - 1]) / new] * new
    return gaps


def all_at_work_until(records: Sequence[Request], open_loop: bool, latest: float) -> float:
    """When the first clients of a closed loop were done while others were still at work; `latest` where nothing came,
    or requests came by the clock."""
    window = None if open_loop else longest_full(client_spans(records))
    return latest if window is None else window.end
