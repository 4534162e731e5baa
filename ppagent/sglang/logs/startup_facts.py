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
class DistInit(Fact):
    """`Init torch distributed` (to 0.5.20) or `Init parallel` (0.5.23); memory taken is in `Memory baseline` there."""

    edge: Edge | Literal["baseline"]
    elapsed_s: float | None = None
    used_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightLoad(Fact):
    """Weights of one rank: `used_gib` is what loading took. A second pair on a rank is a draft model's."""

    edge: Edge
    model_type: str | None = None
    dtype: str | None = None
    elapsed_s: float | None = None
    used_gib: float | None = None
    avail_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPool(Fact):
    """A KV pool of one rank. MLA pools have one size (`total_gib` only). `label` names one of several pools (0.5.18+:
    `Full`, `SWA`); `upper_bound` marks reserved address space that is sized after graph capture (0.5.18+)."""

    tokens: int
    total_gib: float
    k_gib: float | None = None
    v_gib: float | None = None
    dtype: str | None = None
    label: str | None = None
    upper_bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MambaPool(Fact):
    """State cache of a hybrid model: `slots` states."""

    slots: int
    conv_gib: float | None = None
    ssm_gib: float | None = None


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
    backend: str | None = None
    sizes: tuple[int, ...] = ()
    elapsed_s: float | None = None
    used_gib: float | None = None
    avail_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity(Fact):
    """The summary each stage's TP rank 0 prints. `max_running_requests` is per scheduler."""

    max_total_num_tokens: int
    chunked_prefill_size: int | None = None
    max_prefill_tokens: int | None = None
    max_running_requests: int | None = None
    context_len: int | None = None
    avail_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Fact):
    """The server takes requests."""


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

    @property
    def ready_at(self) -> datetime | None:
        """When the server began to take requests; None where it never did, or the log does not say."""
        return next((fact.at for fact in self.of(Ready)), None)

    def graph_sizes(self, phase: GraphPhase = "decode") -> tuple[int, ...]:
        """The sizes captured for `phase`, ascending; empty where the log lists none."""
        listed = (tuple(sorted(fact.sizes)) for fact in self.of(GraphCapture) if fact.phase == phase)
        return max(listed, key=len, default=())

    def captured(self, phase: GraphPhase = "decode") -> bool:
        """Whether a capture of `phase` was seen to end."""
        return any(fact.phase == phase and fact.edge == "end" for fact in self.of(GraphCapture))

    def weights_gib(self) -> dict[int, float]:
        """GiB of weights by pipeline stage: all TP ranks of the stage, a draft model included."""
        totals: dict[int, float] = {}
        for fact in self.of(WeightLoad):
            if fact.edge == "end" and fact.used_gib is not None and not fact.ranks.dp:
                totals[fact.ranks.pp or 0] = totals.get(fact.ranks.pp or 0, 0.0) + fact.used_gib
        return dict(sorted(totals.items()))
