"""The load on a scheduler and how fast the machine carries it."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Load:
    """A closed loop of clients. `slots` says how many requests each filled micro-batch slot holds (one without PP)."""

    slots: tuple[int, ...]
    turn_ms: float
    """Wall time in which every running request gains a token (or an accepted draft)."""
    input_len: int
    output_len: int
    offered: int = 0
    """Requests in flight; what the slots do not hold waits. 0 means just what they hold."""
    cached_len: int = 0
    """Prompt tokens of `input_len` found in the prefix cache."""
    prefill_ms_per_k: float = 25.0
    """How long 1000 uncached prompt tokens keep decoding waiting."""
    graph: bool | Callable[[int], bool] = True
    """Whether a decode step of so many requests is replayed from a graph."""
    turn_by_running: Callable[[int], float] | None = None
    """Turn in ms by running requests, where it depends on them; replaces `turn_ms`."""
    accept: tuple[float, float] | None = None
    """Speculation: tokens a step, and acceptance rate."""
    spread: float = 0.3
    """Outputs are uniform within this share around `output_len`."""
    jitter: float = 0.012
    admit_by_kv: bool = False
    """Whether the KV pool decides who runs, with SGLang's reserve for future tokens."""
    max_new: int = 0
    """`max_new_tokens` that requests ask for; 0 means their output length."""
    occupancy: tuple[float, ...] = ()
    """Percent of wall time that each stage spends in forwards."""
    first_alone: bool = True
    """Whether a burst's first request is prefilled before the others have arrived."""

    @property
    def uncached(self) -> int:
        return self.input_len - self.cached_len

    @property
    def in_flight(self) -> int:
        return self.offered or sum(self.slots)

    @property
    def gain(self) -> float:
        """Tokens that a request gains a turn."""
        return self.accept[0] if self.accept else 1.0

    def steps_from_graph(self, running: int) -> bool:
        return self.graph(running) if callable(self.graph) else self.graph

    def turn(self, running: int) -> float:
        """Seconds."""
        return (self.turn_by_running(running) if self.turn_by_running else self.turn_ms) / 1000


@dataclass
class Request:
    """One request. `prompt` tokens are still to be computed when it waits."""

    arrived: float
    prompt: int
    target: int
    max_new: int
    made: float = 0.0
    earlier_s: float = 0.0
    """How long it counts as served before it was seen, so that latencies are not those of short requests alone."""


@dataclass
class Counters:
    """What a scheduler has counted up to a moment."""

    at: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated: float = 0.0
    finished: int = 0
    graph_passes: int = 0
    eager_passes: int = 0
    prefills: int = 0
    retracted: int = 0
    retracted_lately: int = 0
    """Since the last decode line, as the gauge has it."""
    running_s: float = 0.0
    """Requests running, summed over time."""
    itl_sum_s: float = 0.0
    ttft_sum_s: float = 0.0
    e2e_sum_s: float = 0.0
    queue_sum_s: float = 0.0
    busy_s: list[float] = field(default_factory=list)
    running: int = 0
    queue: int = 0
    used_tokens: int = 0
    tokens_per_s: float = 0.0
    hit_rate: float = 0.0
    new_token_ratio: float = 0.7
    occupancy: tuple[float, ...] = ()
    accept_len: float = 0.0
    grammar: tuple[float, int, float] = (0.0, 0, 0.0)
    """Requests that wait for a grammar; a scrape's grammars compiled, and the seconds that took."""
    balance: float = 0.0
    """Mean balancedness of experts."""

    def since(self, before: "Counters") -> "Counters":
        """What was counted after `before`; gauges are the present ones, `at` is the seconds between."""
        done = deepcopy(self)
        for name in _COUNTED:
            setattr(done, name, getattr(self, name) - getattr(before, name))
        return done


_COUNTED = (
    "at", "prompt_tokens", "cached_tokens", "generated", "finished", "graph_passes", "eager_passes", "prefills",
    "retracted", "running_s", "itl_sum_s", "ttft_sum_s", "e2e_sum_s", "queue_sum_s",
)  # fmt: skip
