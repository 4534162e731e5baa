"""What a person could do next: whole commands, legal for the installed version, with a way back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.causes.cause import Change, Declined, RemedyKind
from ppagent.model.waterfall import Step


@dataclass(frozen=True)
class Predicted:
    """A forecast as a range. `low` and `high` are tok/s where the metric is output_throughput."""

    metric: str
    at_concurrency: float
    baseline: float
    low: float
    high: float
    regime: str = ""
    assumes: tuple[str, ...] = ()
    """What the range takes for granted, what weighs most first."""


@dataclass(frozen=True)
class Elsewhere:
    """What to run on another node of the same deployment."""

    host: str
    command: str


@dataclass(frozen=True)
class Proposal:
    """One step to take. `change` and `command` use the spellings of the installed version."""

    id: str
    causes: tuple[str, ...]
    kind: RemedyKind
    title: str
    change: Change
    cites: tuple[str, ...]
    command: str = ""
    """The whole new launch command (relaunch), the call to make (live), or what to do (operator)."""
    diff: str = ""
    predicted: Predicted | None = None
    unpredicted: str = ""
    """Why there is no forecast; empty where there is one."""
    risks: tuple[str, ...] = ()
    verify: str = ""
    rollback: str = ""
    host: str = ""
    """Where to run `command`, in a deployment of several nodes; empty for a server on one host."""
    elsewhere: tuple[Elsewhere, ...] = ()
    """The whole new launch command of every other node."""

    @property
    def commands(self) -> str:
        """All there is to run, each node's under a comment with its host."""
        if not self.host:
            return self.command
        each = (Elsewhere(self.host, self.command), *self.elsewhere)
        return "\n".join(f"# on {one.host}\n{one.command}" for one in each if one.command)


@dataclass(frozen=True)
class Plan:
    """Everything proposed, in the order to try it, and what was left out on purpose."""

    proposals: tuple[Proposal, ...] = ()
    declined: tuple[Declined, ...] = field(default=())
    gains: Mapping[str, Predicted] = field(default_factory=dict)
    """By cause: what its own remedy alone would give. Shares of the waterfall depend on their order; these do not."""
    waterfall: tuple[Step, ...] = field(default=())
    """From the ceiling down to what was observed; empty where nothing can be priced."""
