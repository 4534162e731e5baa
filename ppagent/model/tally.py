"""What a run of the event model showed, counted after its warm-up."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.admission import Slot
from ppagent.model.workload import Request


@dataclass(frozen=True)
class Outcome:
    """What one run showed, warm-up left out. `filled` is the mean number of slots that held requests.

    `busy` is the share of time each stage's device worked.
    """

    tokens_per_s: float
    mean_itl_ms: float
    mean_ttft_ms: float
    filled: float
    busy: tuple[float, ...]


class Tally:
    """Counters from `since_ms` on."""

    def __init__(self, since_ms: float, stages: int) -> None:
        self.since_ms = since_ms
        self.tokens = self.intervals = self.firsts = 0
        self.itl_sum_ms = self.ttft_sum_ms = self.filled_ms = 0.0
        self.sampled_ms = since_ms
        self.busy_ms = [0.0] * stages

    def token(self, request: Request, now: float, first: bool) -> None:
        """One token reached stage 0's scheduler."""
        self.tokens += 1
        if first:
            self.firsts += 1
            self.ttft_sum_ms += now - request.arrived_ms
            return
        self.intervals += 1
        self.itl_sum_ms += now - request.last_ms

    def sample_fill(self, now: float, slots: Sequence[Slot]) -> None:
        """Weigh the number of slots that hold requests by the time since the last sample."""
        if now > self.sampled_ms:
            self.filled_ms += sum(1 for slot in slots if slot.running) * (now - self.sampled_ms)
            self.sampled_ms = now

    def outcome(self, now: float) -> Outcome:
        """Figures over the time from the warm-up to `now`."""
        span_ms = max(now - self.since_ms, 1e-9)
        return Outcome(
            tokens_per_s=1000.0 * self.tokens / span_ms,
            mean_itl_ms=self.itl_sum_ms / max(self.intervals, 1),
            mean_ttft_ms=self.ttft_sum_ms / max(self.firsts, 1),
            filled=self.filled_ms / max(self.sampled_ms - self.since_ms, 1e-9),
            busy=tuple(min(1.0, busy_ms / span_ms) for busy_ms in self.busy_ms),
        )
