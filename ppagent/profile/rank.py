"""What one rank did in its trace: how long its card computed, waited or idled, and what the host did meanwhile."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ppagent.profile.steps import StepTally

BUSY, COLLECTIVES, WAITING = "busy", "collectives", "waiting"
INSIDE, OUTSIDE, SCHEDULING = "inside", "outside", "scheduling"
PARTS = (BUSY, COLLECTIVES, WAITING, INSIDE, OUTSIDE, SCHEDULING)


@dataclass(frozen=True)
class Window:
    """A stretch of whole periods, each from the start of a forward to that of the next.

    Times in ms. Busy, waiting, inside and outside make it up. What cannot be told without marks is None.
    """

    window_ms: float
    steps: int
    """Periods; 0 where no mark tells one from the next."""
    busy_ms: float
    """A kernel ran that neither sends nor receives between stages."""
    collectives_ms: float
    """The part of it with nothing but all-reduces and their like."""
    waiting_ms: float
    """Nothing ran but sends and receives, which spin until the other stage is there."""
    inside_ms: float | None
    """Nothing ran while the host was in a forward: it could not launch fast enough."""
    outside_ms: float | None
    """Nothing ran while the host was elsewhere."""
    scheduling_ms: float | None
    """The part of it in which the host chose the next batch or worked on a result; None without the loop's marks."""
    host_ms: Mapping[str, float]
    """By mark: how long the host was in it, whatever the card did."""


@dataclass(frozen=True)
class RankSummary:
    """A rank period by period."""

    edges: Sequence[int]
    """Starts of its forwards in order, ns of the host's clock; without marks, its first kernel and its last one's end.
    """
    parts: Mapping[str, Sequence[int]]
    """ns in each period: the parts by their names, the host's marks by theirs."""
    marked: bool
    """Whether the edges are forwards."""
    kernels: int
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

    @property
    def whole(self) -> Window:
        """All its periods."""
        return self.over(self.edges[0], self.edges[-1])

    def over(self, begin: int, end: int) -> Window:
        """The periods that lie between two moments of the host's clock."""
        first, last = bisect_left(self.edges, begin), bisect_right(self.edges, end) - 1
        length = self.edges[last] - self.edges[first] if last > first else 0
        sums = {name: sum(row[first:last]) / 1e6 for name, row in self.parts.items()}
        return Window(
            length / 1e6,
            max(0, last - first) if self.marked else 0,
            busy_ms=sums.get(BUSY, 0.0),
            collectives_ms=sums.get(COLLECTIVES, 0.0),
            waiting_ms=sums.get(WAITING, 0.0),
            inside_ms=sums.get(INSIDE),
            outside_ms=sums.get(OUTSIDE),
            scheduling_ms=sums.get(SCHEDULING),
            host_ms={name: value for name, value in sums.items() if name not in PARTS},
        )
