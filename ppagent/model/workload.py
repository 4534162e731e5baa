"""What the clients do and what the scheduler admits: the inputs of the event model beside the ring itself."""

import random
from dataclasses import dataclass
from enum import Enum, auto


class Launch(Enum):
    """How the launch of a step on the CPU and its work on the device overlap.

    OVERLAPS: the work begins with the first kernel, as on a GPU. EMULATED: so too, but receives take no place in the
    device's queue: a clock that stands for a device. BLOCKS: the launch returns only when the work is done.
    """

    OVERLAPS = auto()
    EMULATED = auto()
    BLOCKS = auto()


@dataclass(frozen=True)
class Load:
    """A closed loop: `clients` users, each with one request in flight and a pause of `think_ms` after each answer.

    `think_spread` is how much longer or shorter a pause may be, as a share: people fall into no step with a ring.
    Output lengths are uniform over `output_tokens` (low, high), first requests come at random over `start_spread_ms`
    (0: all at once). `client_ms` is what an answer's end costs on the way out and back in (detokenising, HTTP). With
    `lockstep` the next round starts only when all answers of the last one are there, as a batch job sends; even
    then the requests of a round arrive `gap_ms` apart, which decides how a burst falls into the slots.
    """

    clients: int
    prompt_tokens: int = 64
    output_tokens: tuple[int, int] = (40, 40)
    think_ms: float = 0.0
    think_spread: float = 0.0
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

    def pause_ms(self, draw: random.Random) -> float:
        """From a request's last token to the next request of the same client."""
        if self.think_spread == 0:
            return self.client_ms + self.think_ms
        return self.client_ms + self.think_ms * draw.uniform(1 - self.think_spread, 1 + self.think_spread)

    def longest(self, requests: int) -> float:
        """Mean length of the longest of `requests` answers, in tokens."""
        low, high = self.output_tokens
        return low + (high - low) * requests / (requests + 1)

    def first_arrivals(self, draw: random.Random) -> list[tuple[float, int]]:
        """When each client's first request comes, with its number, earliest first.

        A steady beat would fall into step with the ring, which no crowd of people does.
        """
        if self.start_spread_ms <= 0:
            return [(self.gap_ms * index, index) for index in range(self.clients)]
        times_ms = sorted(draw.uniform(0.0, self.start_spread_ms) for _ in range(self.clients))
        return [(time_ms, index) for index, time_ms in enumerate(times_ms)]


@dataclass(frozen=True)
class Admission:
    """What SGLang's scheduler lets in: requests a slot, requests in all, prompt tokens a prefill batch.

    `chunk_tokens` 0 means chunking is off (`--chunked-prefill-size -1`). `prefill_max_requests` bounds the prompts of
    one prefill batch (`--prefill-max-requests`, 0.5.7+; 0 is no bound). `leaves_late`: a finished request keeps its
    place until its slot's next decode pass. `chunk_needs_room`: a prompt in chunks waits while the slot is full.
    """

    slot_limit: int
    max_running: int = 4096
    chunk_tokens: int = 8192
    max_prefill_tokens: int = 16384
    prefill_max_requests: int = 0
    leaves_late: bool = False
    chunk_needs_room: bool = False

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
