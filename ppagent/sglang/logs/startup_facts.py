"""The facts a server states while it starts, one per line of its log, and the collection of them.

SGLang divides by 2**30 and prints "GB", so every size here is GiB.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, TypeVar

from ppagent.sglang.logs.prefix import NO_RANKS, Ranks
from ppagent.sglang.logs.server_args import ServerArgs

Edge: TypeAlias = Literal["begin", "end"]
GraphPhase: TypeAlias = Literal["decode", "prefill", "verify", "draft", "draft_extend", "draft_prefill", "draft_verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Who said it and when; `at` is None where the line had no prefix."""

    ranks: Ranks = NO_RANKS
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgsFact(Fact):
    """The resolved arguments (launcher)."""

    args: ServerArgs


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightLoad(Fact):
    """Weights of one rank: `used_gib` is what loading took. A second pair on a rank is a draft model's."""

    edge: Edge
    used_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPool(Fact):
    """A KV pool of one rank, one of several for some models (0.5.18+: `Full`, `SWA`), or all of them together.

    `upper_bound` marks address space that is reserved and no pool yet: with `SGLANG_ENABLE_POST_CAPTURE_KV_SIZING`
    (0.5.18+) the pool is made after graph capture, and `avail_gib` is what that leaves free.
    """

    tokens: int
    total_gib: float
    upper_bound: bool = False
    avail_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEnd(Fact):
    """Memory left on a rank once its pools exist: what a light stage cannot use shows here."""

    avail_gib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCapture(Fact):
    """A line of a graph capture. `sizes` are batch sizes (tokens for prefill); they stand in a line of their own up to
    0.5.13 (edge `sizes`), in the begin line 0.5.14-0.5.20, in the end line 0.5.23 (decode)."""

    phase: GraphPhase
    edge: Edge | Literal["sizes"]
    sizes: tuple[int, ...] = ()
    used_gib: float | None = None
    avail_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity(Fact):
    """The summary each stage's TP rank 0 prints. `max_running_requests` is per scheduler."""

    max_total_num_tokens: int
    chunked_prefill_size: int | None = None
    max_running_requests: int | None = None
    context_len: int | None = None
    avail_gib: float | None = None


F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class Startup:
    """All start-up facts of one launch, in the order of the log. `dropped` counts those past the bound."""

    facts: tuple[Fact, ...] = ()
    dropped: int = 0

    def of(self, kind: type[F]) -> tuple[F, ...]:
        """The facts of one kind, for example `startup.of(KvPool)`."""
        return tuple(fact for fact in self.facts if isinstance(fact, kind))

    @property
    def args(self) -> ServerArgs | None:
        """The resolved arguments, where the launcher's log holds them."""
        return next((fact.args for fact in self.of(ArgsFact)), None)

    @property
    def capacity(self) -> Capacity | None:
        """The capacity summary of the lowest stage in the log."""
        return min(self.of(Capacity), key=lambda fact: fact.ranks.pp or 0, default=None)

    def graph_sizes(self, phase: GraphPhase = "decode") -> tuple[int, ...]:
        """The sizes captured for `phase`, ascending; empty where the log lists none."""
        listed = (tuple(sorted(fact.sizes)) for fact in self.of(GraphCapture) if fact.phase == phase)
        return max(listed, key=len, default=())
