"""What the clients do and what the scheduler admits: the inputs of the event model beside the ring itself."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """A closed loop: `clients` users, each with one request in flight and a pause of `think_ms` after each answer.

    Output lengths are uniform over `output_tokens` (low, high), first requests come evenly over `start_spread_ms`
    (0: all at once). `client_ms` is what an answer's end costs on the way out and back in (detokenising, HTTP).
    With `lockstep` the next round starts only when all answers of the last one are there, as a batch job sends; even
    then the requests of a round arrive `gap_ms` apart, which decides how a burst falls into the slots.
    """

    clients: int
    prompt_tokens: int = 64
    output_tokens: tuple[int, int] = (40, 40)
    think_ms: float = 0.0
    start_spread_ms: float = 0.0
    client_ms: float = 1.0
    lockstep: bool = False
    gap_ms: float = 0.5

    def __post_init__(self) -> None:
        low, high = self.output_tokens
        if self.clients < 1 or self.prompt_tokens < 1 or not 1 <= low <= high:
            raise ValueError("a load needs a client, a prompt token and output lengths of 1 or more")

    def length(self, draw: random.Random) -> int:
        """Output length of one request, in tokens."""
        low, high = self.output_tokens
        return low if low == high else draw.randint(low, high)


@dataclass(frozen=True)
class Admission:
    """What SGLang's scheduler lets in: requests a slot, requests in all, prompt tokens a prefill batch.

    `chunk_tokens` 0 means chunking is off (`--chunked-prefill-size -1`). `prefill_max_requests` bounds the prompts of
    one prefill batch (`--prefill-max-requests`, 0.5.7+; 0 is no bound).
    """

    slot_limit: int
    max_running: int = 4096
    chunk_tokens: int = 8192
    max_prefill_tokens: int = 16384
    prefill_max_requests: int = 0

    def __post_init__(self) -> None:
        if self.slot_limit < 1 or self.max_running < 1:
            raise ValueError("slot limit and running limit must be 1 or more")


class Request:
    """One request on its way through the event model; mutable, since a run makes thousands of steps."""

    __slots__ = ("arrived_ms", "last_ms", "left", "prompt_left")

    def __init__(self, arrived_ms: float, prompt_tokens: int, output_tokens: int) -> None:
        self.arrived_ms = arrived_ms
        self.prompt_left = prompt_tokens
        self.left = output_tokens
        self.last_ms = 0.0
