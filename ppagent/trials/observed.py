"""The traffic that is there anyway as a meter: read from the server's own counters, nothing is sent.

Others decide how much they send, so a difference in tokens a second may be theirs. Where the requests in flight changed
by more than a tenth, the speed of a single request (1 / inter-token latency) is compared in place of the throughput.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.bench.control import Control
from ppagent.bench.server_view import total
from ppagent.errors import ToolError
from ppagent.sglang.metrics import Scrape
from ppagent.trials.noise import Sample
from ppagent.trials.phase import Phase

BLOCKS = 10
SHORTEST_BLOCK_S = 1.0
SETTLE_LATENCIES = 2.0
SHORTEST_SETTLE_S = 5.0
LONGEST_SETTLE_S = 300.0
LOAD_MOVED = 0.1


@dataclass(frozen=True)
class Reading:
    """Counters at one time. Tokens are needed; the rest may be missing."""

    at: float
    tokens: float
    latency_sum_s: float | None
    latency_count: float | None
    itl_sum_s: float | None
    itl_count: float | None


class ObservedTraffic:
    """Other people's requests, seen through `/metrics`."""

    concurrency: int | None = None

    def __init__(self, control: Control) -> None:
        self._control = control
        self._latency_s: float | None = None

    @property
    def describes(self) -> str:
        return "the traffic that is there: nothing is sent"

    def start(self) -> None:
        """Makes sure that there is traffic. Raises ToolError where there is none, or no metrics."""
        first = self._read()
        time.sleep(2 * SHORTEST_BLOCK_S)
        if self._read().tokens <= first.tokens:
            raise ToolError("no token was generated for two seconds: there is no traffic to observe")

    def settle(self) -> str:
        seconds = SHORTEST_SETTLE_S
        if self._latency_s is not None:
            seconds = min(LONGEST_SETTLE_S, max(seconds, SETTLE_LATENCIES * self._latency_s))
        time.sleep(seconds)
        return f"{seconds:.0f} s, {SETTLE_LATENCIES:g} times the mean latency of a request"

    def measure(self, label: str, seconds: float) -> Phase:
        block_s = max(SHORTEST_BLOCK_S, seconds / BLOCKS)
        readings = [self._read()]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(block_s, max(0.0, until - time.monotonic())))
            readings.append(self._read())
        return self._phase(label, readings)

    def stop(self, *, wait: bool) -> None:
        """Nothing of ours runs."""

    def note_change(self) -> None:
        """Other people's requests cannot be followed one by one."""

    def _read(self) -> Reading:
        scrape = self._control.metrics()
        tokens = generated(scrape)
        if tokens is None:
            raise ToolError("/metrics has no generation_tokens_total")
        return Reading(
            time.monotonic(),
            tokens,
            total(scrape, "e2e_request_latency_seconds_sum"),
            total(scrape, "e2e_request_latency_seconds_count"),
            total(scrape, "inter_token_latency_seconds_sum"),
            total(scrape, "inter_token_latency_seconds_count"),
        )

    def _phase(self, label: str, readings: Sequence[Reading]) -> Phase:
        first, last = readings[0], readings[-1]
        seconds = last.at - first.at
        if last.tokens <= first.tokens:
            raise ToolError("the traffic stopped, or the server was restarted")
        spent = _grown(first.latency_sum_s, last.latency_sum_s)
        ended = _grown(first.latency_count, last.latency_count)
        gaps, gap_s = _grown(first.itl_count, last.itl_count), _grown(first.itl_sum_s, last.itl_sum_s)
        if spent and ended:
            self._latency_s = spent / ended
        rates = [(b.tokens - a.tokens) / (b.at - a.at) for a, b in zip(readings, readings[1:], strict=False)]
        rate = (last.tokens - first.tokens) / seconds
        itl_s = gap_s / gaps if gaps and gap_s else None
        by_ends = None if spent is None else spent / seconds
        return Phase(
            label=label,
            tokens_per_s=rate,
            error_share=_error_share(rates),
            seconds=seconds,
            in_flight=by_ends if itl_s is None else rate * itl_s,  # Little's law; few requests end in a short while
            in_flight_error=1 / math.sqrt(max(1.0, ended or 0.0)) if itl_s is None else 0.0,
            itl_ms=None if itl_s is None else 1000 * itl_s,
            completed=int(ended or 0),
            blocks=tuple(rates),
        )


def generated(scrape: Scrape) -> float | None:
    """Tokens made so far, None where `/metrics` does not say. Counted every decode step where the version does so
    (`realtime_tokens_total`, 0.5.7+: metrics_collector.py), else when a request ends (`generation_tokens_total`)."""
    stepwise = scrape.gauge("realtime_tokens_total", mode="decode")
    return total(scrape, "generation_tokens_total") if stepwise is None else stepwise


def samples(phases: Sequence[Phase]) -> tuple[list[Sample], str]:
    """What to compare, one sample a phase, and its unit: tok/s where the load stayed, else tokens a second of one
    request."""
    loads = [phase.in_flight for phase in phases if phase.in_flight]
    allowed = LOAD_MOVED + 2 * math.sqrt(2) * max((phase.in_flight_error for phase in phases), default=0.0)
    moved = len(loads) == len(phases) and max(loads) > (1 + allowed) * min(loads)
    if moved and all(phase.itl_ms for phase in phases):
        return [
            Sample(1000 / (phase.itl_ms or 1), phase.error_share, phase.blocks) for phase in phases
        ], "tok/s of one request"
    return [phase.sample for phase in phases], "tok/s"


def _grown(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or after < before else after - before


def _error_share(rates: Sequence[float]) -> float | None:
    if len(rates) < 3:
        return None
    mean = math.fsum(rates) / len(rates)
    variance = math.fsum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1)
    return math.sqrt(variance / len(rates)) / mean if mean else None
