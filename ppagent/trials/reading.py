"""The server's counters at one time, and what two of them tell of the traffic in between."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.bench.server_view import grown, total
from ppagent.errors import ToolError
from ppagent.sglang.metrics import Scrape

STREAMED = ("time_to_first_token_seconds_count", "inter_token_latency_seconds_count")
"""Count tokens as they are handed out (tokenizer_manager.py, 0.4.7 to 0.5.23)."""
ENDED = ("generation_tokens_total",)
"""Grows when a request ends; `realtime_tokens_total` with each decode line of the log. On a slow server both come in
lumps of half a minute."""
STREAMED_SHARE = 0.8
"""Of the tokens of ended requests that the histograms must have counted to be gone by: of answers that are not streamed
they miss all but one of the first piece, which is fifty tokens long or the whole answer."""


@dataclass(frozen=True)
class Reading:
    """Counters at one time. Tokens are needed; the rest may be missing."""

    at: float
    tokens: float
    latency_sum_s: float | None
    latency_count: float | None
    itl_sum_s: float | None
    itl_count: float | None


def read(scrape: Scrape, at: float, names: Sequence[str] = ()) -> Reading:
    """The counters of one scrape, tokens by those of the `names` (else by the best that there are). Raises ToolError
    where it counts no tokens."""
    tokens = _added(scrape, names or token_counters(scrape))
    if tokens is None:
        raise ToolError("/metrics has no generation_tokens_total")
    return Reading(
        at,
        tokens,
        counter(scrape, "e2e_request_latency_seconds_sum"),
        counter(scrape, "e2e_request_latency_seconds_count"),
        counter(scrape, "inter_token_latency_seconds_sum"),
        counter(scrape, "inter_token_latency_seconds_count"),
    )


def counter(scrape: Scrape, name: str) -> float | None:
    """A counter over its label sets; None where it is not there, or is no number that a counter can have."""
    value = total(scrape, name)
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def token_counters(scrape: Scrape) -> tuple[str, ...]:
    """What tells the tokens made so far: the histograms where they count nearly all, else what ended requests had.
    They differ by what is in flight and more, so one measurement goes by one of them throughout."""
    streamed, ended = _added(scrape, STREAMED), _added(scrape, ENDED)
    whole = streamed is not None and (ended is None or streamed >= STREAMED_SHARE * ended)
    return STREAMED if whole else ENDED


def _added(scrape: Scrape, names: Sequence[str]) -> float | None:
    found = [counter(scrape, name) for name in names]
    known = [value for value in found if value is not None]
    return sum(known) if known and len(known) == len(found) else None


def went_back(before: Reading, after: Reading) -> bool:
    """Whether a counter is less than it was, which a restart alone does."""
    pairs = (
        (before.tokens, after.tokens),
        (before.latency_count, after.latency_count),
        (before.itl_count, after.itl_count),
    )
    return any(old is not None and new is not None and new < old for old, new in pairs)


def in_flight(first: Reading, last: Reading) -> float | None:
    """Mean number of requests in flight by Little's law, by the tokens where their times are told: few requests end in
    a short while."""
    seconds = last.at - first.at
    itl_s = itl_s_of(first, last)
    if itl_s is not None:
        return (last.tokens - first.tokens) * itl_s / seconds
    spent = grown(first.latency_sum_s, last.latency_sum_s)
    return None if spent is None else spent / seconds


def thinned(readings: Sequence[Reading], most: int) -> list[Reading]:
    """The bounds of no more than `most` stretches of about one length: short neighbours are much alike, and would make
    the scatter look smaller than it is."""
    stretches = len(readings) - 1
    if stretches <= most:
        return list(readings)
    return [readings[round(place * stretches / most)] for place in range(most + 1)]


def mean_latency_s(scrape: Scrape) -> float | None:
    """Mean latency of all requests since the server's start; None where it does not tell."""
    spent = counter(scrape, "e2e_request_latency_seconds_sum")
    ended = counter(scrape, "e2e_request_latency_seconds_count")
    return spent / ended if spent is not None and ended else None


def itl_s_of(first: Reading, last: Reading) -> float | None:
    """Mean time between tokens; None where the server does not tell."""
    gaps, gap_s = grown(first.itl_count, last.itl_count), grown(first.itl_sum_s, last.itl_sum_s)
    return gap_s / gaps if gaps and gap_s else None


def whole_round(first: Reading, last: Reading) -> bool:
    """Whether as many requests have ended as are in flight; taken for so where the server does not tell."""
    ended, held = grown(first.latency_count, last.latency_count), in_flight(first, last)
    return ended is None or held is None or ended >= held
