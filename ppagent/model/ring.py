"""The decode ring: how long one token takes for every request, in closed form.

A pipeline of P stages serves F filled micro-batch slots. Decoding never drains: a finished token re-enters stage 0, so
the training formulas for pipeline bubbles do not hold. Two times compete. A micro-batch needs the whole ring
(`latency_ms`), and the slowest stage has to serve all filled slots once (`F * slowest`). Below `best_fill` the first
rules and filling helps; above it the second rules and more slots only queue.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One pipeline stage. A decode step of b requests takes `base_ms + per_request_ms * b` on the device.

    `host_ms` is what the CPU spends to launch that step: 0.3-0.5 ms with a decode graph, 5-10 us for each kernel
    without. It overlaps with the device's work.
    """

    base_ms: float
    per_request_ms: float = 0.0
    host_ms: float = 0.0

    def device_ms(self, requests: float) -> float:
        """Device time of one decode step of `requests` requests (may be a mean, so not whole)."""
        return self.base_ms + self.per_request_ms * requests


@dataclass(frozen=True)
class Ring:
    """P stages in a ring with `slots` micro-batch slots: P plus the async batch depth (SGLang 0.5.7+).

    `hop_ms` is the hand-off between two stages (message and transfer), `return_ms` the way of the sampled token from
    the last stage back to the first, `bookkeeping_ms` what the CPU of each stage spends on a pass beside the launch
    (scheduling, handling the result).
    """

    stages: tuple[Stage, ...]
    hop_ms: float = 0.0
    return_ms: float = 0.0
    slots: int = 0
    bookkeeping_ms: float = 0.0

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("a ring needs at least one stage")
        if self.slots == 0:
            object.__setattr__(self, "slots", len(self.stages))
        if self.slots < len(self.stages):
            raise ValueError(f"{self.slots} slots cannot serve {len(self.stages)} stages")

    @property
    def async_depth(self) -> int:
        """Slots beyond the stages."""
        return self.slots - len(self.stages)

    def latency_ms(self, filled: int, requests: int) -> float:
        """Time of one micro-batch round the ring with nothing in its way but its own CPU work."""
        batch = requests / _valid_fill(self, filled, requests)
        hops_ms = self.hop_ms * len(self.stages)
        device_ms = sum(stage.device_ms(batch) for stage in self.stages)
        host_ms = sum(stage.host_ms + self.bookkeeping_ms for stage in self.stages)
        # The device can start when the first kernel is launched, and cannot end before the last launch returned:
        # the two chains run side by side, so a step takes the longer one, not the sum.
        slack_ms = max(0.0, self.stages[-1].device_ms(batch) - self.stages[-1].host_ms)
        return max(host_ms + slack_ms, device_ms + self.bookkeeping_ms) + hops_ms + self.return_ms

    def occupancy_ms(self, stage: Stage, batch: float) -> float:
        """Time for which `stage` can take no other micro-batch: its device or its CPU, whichever is longer."""
        return max(stage.device_ms(batch), stage.host_ms + self.bookkeeping_ms)

    def slowest_ms(self, batch: float) -> float:
        """Occupancy of the stage that paces the others once the slots are filled."""
        return max(self.occupancy_ms(stage, batch) for stage in self.stages)

    def turn_ms(self, filled: int, requests: int) -> float:
        """Time in which each of `requests` requests, spread evenly over `filled` slots, gains one token."""
        batch = requests / _valid_fill(self, filled, requests)
        latency_ms = self.latency_ms(filled, requests)
        if filled > 1:
            latency_ms += self._coupling_ms(batch)
        if filled == self.slots > 1 and self.async_depth == 0:
            latency_ms = max(latency_ms, self._full_ring_ms(batch))
        return max(latency_ms, filled * self.slowest_ms(batch))

    def tokens_per_s(self, filled: int, requests: int) -> float:
        """Output tokens a second of `requests` steadily decoding requests in `filled` slots."""
        return 1000.0 * requests / self.turn_ms(filled, requests)

    def occupancy(self, filled: int, requests: int) -> tuple[float, ...]:
        """True share of time, 0 to 1, in which each stage's device works."""
        turn_ms = self.turn_ms(filled, requests)
        batch = requests / filled
        return tuple(filled * stage.device_ms(batch) / turn_ms for stage in self.stages)

    def best_fill(self, requests: int) -> int:
        """The number of filled slots (F*) that gives `requests` requests the most tokens a second."""
        fills = range(1, min(requests, self.slots) + 1)
        return max(fills, key=lambda filled: (round(self.tokens_per_s(filled, requests), 6), -filled))

    def _coupling_ms(self, batch: float) -> float:
        """What a second filled slot adds to the latency (SGLang 0.5.7+, scheduler_pp_mixin.py: event_loop_pp).

        Stage 0 hands a micro-batch on only after it has taken the next slot's tokens, and these come one slowest stage
        apart. With an async depth they are received even before the launch, so the step starts that much later.
        """
        slowest_ms = self.slowest_ms(batch)
        return slowest_ms if self.async_depth else slowest_ms - self.occupancy_ms(self.stages[0], batch)

    def _full_ring_ms(self, batch: float) -> float:
        """Bound of the CPU chain when every slot is filled: one interval of the ring goes to the first hand-off."""
        later = self.stages[1:]
        chain_ms = sum(stage.host_ms + self.bookkeeping_ms + self.hop_ms for stage in later[:-1])
        return self.slots / (self.slots - 1) * (chain_ms + later[-1].device_ms(batch) + self.return_ms + self.hop_ms)


def turn_of(stage_times: Sequence[float], filled: int) -> float:
    """A turn of `filled` slots in the unit of `stage_times`, nothing beside the stages counted: all of them one after
    another, or more where the slowest has the longer way through the slots."""
    return max(sum(stage_times), filled * max(stage_times))


def shared_ring(
    ring_base_ms: float, ring_per_request_ms: float, shares: Sequence[float], return_ms: float = 0.0
) -> Ring:
    """A ring whose turn with one slot filled is `ring_base_ms + ring_per_request_ms * C`, split by `shares`.

    This is how measured levels become stages: their sum is known, their split comes from the layers.
    """
    total = math.fsum(shares)
    if total <= 0:
        raise ValueError("the stages' shares must add up to more than nothing")
    work_ms = ring_base_ms - return_ms
    stages = tuple(Stage(work_ms * share / total, ring_per_request_ms * share / total) for share in shares)
    return Ring(stages, return_ms=return_ms)


def _valid_fill(ring: Ring, filled: int, requests: int) -> int:
    if not 1 <= filled <= min(ring.slots, requests):
        raise ValueError(f"{filled} filled slots do not fit {requests} requests in {ring.slots} slots")
    return filled
