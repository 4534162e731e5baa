"""The server's counters at one time, and what two of them tell of the traffic in between."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.bench.server_view import grown, total
from ppagent.errors import ToolError
from ppagent.sglang.metrics import Scrape


@dataclass(frozen=True)
class Reading:
    """Counters at one time. Tokens are needed; the rest may be missing."""

    at: float
    tokens: float
    latency_sum_s: float | None
    latency_count: float | None
    itl_sum_s: float | None
    itl_count: float | None


def read(scrape: Scrape, at: float) -> Reading:
    """The counters of one scrape. Raises ToolError where it counts no tokens."""
    tokens = generated(scrape)
    if tokens is None:
        raise ToolError("/metrics has no generation_tokens_total")
    return Reading(
        at,
        tokens,
        total(scrape, "e2e_request_latency_seconds_sum"),
        total(scrape, "e2e_request_latency_seconds_count"),
        total(scrape, "inter_token_latency_seconds_sum"),
        total(scrape, "inter_token_latency_seconds_count"),
    )


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
    spent, ended = total(scrape, "e2e_request_latency_seconds_sum"), total(scrape, "e2e_request_latency_seconds_count")
    return spent / ended if spent is not None and ended else None


def itl_s_of(first: Reading, last: Reading) -> float | None:
    """Mean time between tokens; None where the server does not tell."""
    gaps, gap_s = grown(first.itl_count, last.itl_count), grown(first.itl_sum_s, last.itl_sum_s)
    return gap_s / gaps if gaps and gap_s else None


def whole_round(first: Reading, last: Reading) -> bool:
    """Whether as many requests have ended as are in flight; taken for so where the server does not tell."""
    ended, held = grown(first.latency_count, last.latency_count), in_flight(first, last)
    return ended is None or held is None or ended >= held


def generated(scrape: Scrape) -> float | None:
    """Tokens made so far, None where `/metrics` does not say.

    By the histograms of the time to the first token and between tokens, which count tokens as they are handed out
    (tokenizer_manager.py, 0.4.7 to 0.5.23). `generation_tokens_total` grows when a request ends, and
    `realtime_tokens_total` with each decode line of the log: on a slow server these come in lumps of half a minute.
    """
    firsts = total(scrape, "time_to_first_token_seconds_count")
    others = total(scrape, "inter_token_latency_seconds_count")
    if firsts is not None and others is not None:
        return firsts + others
    return total(scrape, "generation_tokens_total")
