"""What load to put on a server: how many at a time or how often, how long, how far apart."""

import math
from dataclasses import dataclass

from ppagent.bench.prompts import Span

DEFAULT_INPUT = Span(64, 256)
DEFAULT_OUTPUT = Span(32, 96)


@dataclass(frozen=True)
class Shape:
    """One level of load.

    Closed loop: `concurrency` clients, each sending its next request `think_s` after the answer to its last (drawn
    between half and one and a half times that, so that clients do not march in step). Open loop: `rate` requests a
    second at random times (Poisson), at most `concurrency` at a time where it is given.

    Think time changes what is measured: a client that answers at once hides how requests clump in a pipeline's slots.
    """

    concurrency: int | None = None
    rate: float | None = None
    think_s: float = 0.0
    input_tokens: Span = DEFAULT_INPUT
    output_tokens: Span = DEFAULT_OUTPUT
    seed: int = 1
    seconds: float = 60.0
    """The level is boxed in time: no request is sent after that."""
    requests: int | None = None
    """At most so many requests; the time box holds all the same."""

    def __post_init__(self) -> None:
        if self.concurrency is None and self.rate is None:
            raise ValueError("a level needs a concurrency or a rate")
        if self.concurrency is not None and self.concurrency < 1:
            raise ValueError("concurrency is 1 or more, a rate above 0")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ValueError("concurrency is 1 or more, a rate above 0")
        if not 0 <= self.think_s < math.inf:
            raise ValueError("a pause is 0 s or longer")

    @property
    def open_loop(self) -> bool:
        """Whether requests come by the clock and not when an answer is in."""
        return self.rate is not None

    @property
    def label(self) -> str:
        """The level in a few words."""
        parts = [f"C={self.concurrency}"] if self.concurrency is not None else []
        parts += [f"{self.rate:g} req/s"] if self.rate is not None else []
        parts += [f"think {self.think_s:g} s"] if self.think_s else []
        return " ".join(parts)
