"""What one rank did in its trace: how long its card computed, waited or idled, and what the host did meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.profile.steps import StepTally


@dataclass(frozen=True)
class RankSummary:
    """One rank over its window: from the first step's start to the last one's, so that only whole periods count.

    Times in ms. Busy, waiting, inside and outside make up the window. What cannot be told without marks is None.
    """

    window_ms: float
    steps: int
    kernels: int
    busy_ms: float = 0.0
    """A kernel ran that neither sends nor receives between stages."""
    collectives_ms: float = 0.0
    """The part of it with nothing but all-reduces and their like."""
    waiting_ms: float = 0.0
    """Nothing ran but sends and receives, which spin until the other stage is there."""
    inside_ms: float | None = None
    """Nothing ran while the host was in a forward: it could not launch fast enough."""
    outside_ms: float | None = None
    """Nothing ran while the host was elsewhere."""
    scheduling_ms: float | None = None
    """The part of it in which the host chose the next batch or worked on a result; None without the loop's marks."""
    host_ms: Mapping[str, float] = field(default_factory=dict)
    """By mark: how long the host was in it, whatever the card did."""
    tally: StepTally = field(default_factory=StepTally)
    modes: Mapping[str, int] = field(default_factory=dict)
    """Forwards by mode, where the marks name it."""
    global_rank: int | None = None
    """Rank among all processes of the deployment, as torch.distributed has it."""
    world: int | None = None
    """Processes of the deployment, as torch.distributed has it."""
    devices: tuple[str, ...] = ()
    unread: int = 0
    """Events without a time that can be one."""
    quote: str = ""
    """The name of an event that tells most, as it stands in the trace."""
