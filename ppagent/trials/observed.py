"""The traffic that is there anyway as a meter: read from the server's own counters, nothing is sent.

Others decide how much they send, so a difference in tokens a second may be theirs. Where the requests in flight changed
by more than a tenth, the speed of a single request (1 / inter-token latency) is compared in place of the throughput.
"""

import math
import time
from collections.abc import Sequence

from ppagent.bench.control import Control
from ppagent.bench.server_view import grown
from ppagent.bench.statistics import error_share
from ppagent.errors import ToolError
from ppagent.evidence.counts import agreeing
from ppagent.trials.counting import Counting
from ppagent.trials.noise import Sample
from ppagent.trials.phase import Phase
from ppagent.trials.reading import Reading, in_flight, itl_s_of, mean_latency_s, thinned, whole_round

BLOCKS = 10
SHORTEST_BLOCK_S = 1.0
TURNOVERS = 2.0
"""Requests that ended since a change, over those in flight: a slot limit moves no running request, so until they are
replaced the old setting is measured."""
SHORTEST_SETTLE_S = 5.0
LONGEST_SETTLE_S = 300.0
LONGEST_MEASURE_S = 180.0
BLIND_SETTLE_S = 60.0
"""Where the server does not tell what ends."""
LOAD_MOVED = 0.1


class ObservedTraffic:
    """Other people's requests, seen through `/metrics`."""

    concurrency: int | None = None

    def __init__(self, control: Control) -> None:
        self._control = control
        self._counting = Counting(control)
        self._in_flight: float | None = None
        self._change: Reading | None = None
        self._unsettled = ""

    @property
    def describes(self) -> str:
        return "the traffic that is there: nothing is sent"

    def expected_s(self, seconds: float) -> float:
        """How long a measurement of `seconds` takes if requests go on as they did: as long as one of them. Raises
        ToolError without metrics."""
        latency_s = mean_latency_s(self._control.metrics())
        return max(seconds, min(LONGEST_MEASURE_S, latency_s or 0.0))

    def start(self) -> None:
        """Makes sure that there is traffic. Raises ToolError where there is none, or no metrics."""
        first = self._read()
        time.sleep(2 * SHORTEST_BLOCK_S)
        if self._read().tokens <= first.tokens:
            raise ToolError("no token was generated for two seconds: there is no traffic to observe")
        self._counting.choose()

    def settle(self) -> str:
        """Waits until requests have ended as often as it takes for those in flight to be replaced."""
        self._unsettled = ""
        time.sleep(SHORTEST_SETTLE_S)
        if self._change is None:
            return f"{SHORTEST_SETTLE_S:.0f} s, nothing was changed yet"
        if self._in_flight is None or self._change.latency_count is None:
            time.sleep(BLIND_SETTLE_S)
            self._unsettled = f"{BLIND_SETTLE_S:.0f} s were waited for, and the server does not tell how many ended"
            return f"{BLIND_SETTLE_S:.0f} s, not knowing how many requests are in flight, or how many ended"
        needed = math.ceil(TURNOVERS * self._in_flight)
        until = self._change.at + LONGEST_SETTLE_S
        while (ended := self._ended()) < needed and time.monotonic() < until:
            time.sleep(SHORTEST_BLOCK_S)
        done = agreeing(f"{ended} requests ended since, of {self._in_flight:.0f} in flight")
        if ended >= needed:
            return done
        self._unsettled = f"{done}, {LONGEST_SETTLE_S:.0f} s after the change"
        return f"{done}; not waited for longer than {LONGEST_SETTLE_S:.0f} s"

    def _ended(self) -> int:
        """Requests that have ended since the change."""
        before = None if self._change is None else self._change.latency_count
        return int(grown(before, self._read().latency_count) or 0)

    def measure(self, label: str, seconds: float) -> Phase:
        """For `seconds`, or for longer until as many requests have ended as are in flight: where they begin and end
        together, less than that would be a part of their round, and another part under the other setting."""
        block_s = max(SHORTEST_BLOCK_S, seconds / BLOCKS)
        readings = [self._read()]
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < LONGEST_MEASURE_S:
            if passed >= seconds and whole_round(readings[0], readings[-1]):
                break
            left = seconds - passed
            time.sleep(min(block_s, left) if left > 0 else block_s)
            readings.append(self._read())
        return self._phase(label, thinned(readings, BLOCKS))

    def stop(self, *, wait: bool) -> None:
        """Nothing of ours runs."""

    def note_change(self) -> None:
        """Other people's requests cannot be followed one by one, but those that end from here on can be counted."""
        self._change = self._read()

    def _read(self) -> Reading:
        return self._counting.read()

    def _phase(self, label: str, readings: Sequence[Reading]) -> Phase:
        first, last = readings[0], readings[-1]
        seconds = last.at - first.at
        if last.tokens <= first.tokens:
            raise ToolError("no token was counted meanwhile: the traffic stopped")
        ended = grown(first.latency_count, last.latency_count)
        rates = [(b.tokens - a.tokens) / (b.at - a.at) for a, b in zip(readings, readings[1:], strict=False)]
        itl_s = itl_s_of(first, last)
        self._in_flight = in_flight(first, last)
        return Phase(
            label=label,
            tokens_per_s=(last.tokens - first.tokens) / seconds,
            error_share=error_share(rates),
            seconds=seconds,
            in_flight=self._in_flight,
            in_flight_error=1 / math.sqrt(max(1.0, ended or 0.0)) if itl_s is None else 0.0,
            itl_ms=None if itl_s is None else 1000 * itl_s,
            completed=int(ended or 0),
            blocks=tuple(rates),
            unsettled=self._unsettled,
        )


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
