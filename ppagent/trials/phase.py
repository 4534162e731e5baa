"""One setting measured for a while: what came of it, and what is needed to measure it."""

from dataclasses import dataclass
from typing import Protocol

from ppagent.trials.noise import Sample


@dataclass(frozen=True)
class Phase:
    """One stretch under one setting."""

    label: str
    tokens_per_s: float
    error_share: float | None
    seconds: float
    in_flight: float | None
    itl_ms: float | None
    """Mean time between tokens of a request."""
    ttft_ms: float | None = None
    completed: int = 0
    failed: int = 0
    in_flight_error: float = 0.0
    """One standard error of `in_flight` as a share: where the requests that ended tell of it, few ends say little."""
    slot_running: float | None = None
    """Requests of one micro-batch as the server told, median of the looks that found any."""
    blocks: tuple[float, ...] = ()
    """Tokens a second of equal parts of it."""
    unsettled: str = ""
    """Why requests that began under the other setting may still have run; empty where they had been replaced."""

    @property
    def sample(self) -> Sample:
        return Sample(self.tokens_per_s, self.error_share, self.blocks)


class Meter(Protocol):
    """Measures whatever traffic there is: a load of our own, or that of others."""

    @property
    def describes(self) -> str:
        """The traffic in words."""
        ...

    @property
    def concurrency(self) -> int | None:
        """Requests kept in flight; None where others decide."""
        ...

    def start(self) -> None:
        """Begins. Raises ToolError where the server does not take it."""
        ...

    def settle(self) -> str:
        """Waits until requests have turned over since the last change; what was waited for, in words."""
        ...

    def measure(self, label: str, seconds: float) -> Phase:
        """Measures for a while. Raises ToolError where nothing can be measured."""
        ...

    def note_change(self) -> None:
        """Called right before a change, so that requests in flight at that moment can be followed."""
        ...

    def stop(self, *, wait: bool) -> None:
        """Ends; with `wait` only once what is in flight was answered."""
        ...
