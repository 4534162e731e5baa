"""What a cause is: data and two small functions. One file a cause, named `<id>_<what>.py`, with `CAUSE` in it.

The module's docstring is the cause's page (`ppagent explain PP001` prints it). Its headings, in this order:
What it is / Why it matters / Signals / What refutes it / Remedies.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from ppagent.evidence.counts import agreeing
from ppagent.evidence.facts import Facts
from ppagent.sglang.launch.change import Change as Change

RemedyKind = Literal["live", "relaunch", "operator"]


@dataclass(frozen=True)
class Observation:
    """Something the evidence shows that speaks for or against a cause."""

    says: str
    """The observation with its figures and units, one sentence without a full stop."""
    cites: tuple[str, ...]
    """Ids of the evidence that shows it, each once; never empty."""
    if_true: float
    """Probability of seeing this where the cause holds, between 0 and 1, both excluded."""
    if_false: float
    """Probability of seeing this where it does not, its rivals included."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cites", tuple(dict.fromkeys(self.cites)))
        object.__setattr__(self, "says", agreeing(self.says))

    @property
    def supports(self) -> bool:
        return self.if_true > self.if_false


@dataclass(frozen=True)
class Probe:
    """A question that would move this cause: the tool to ask, and why."""

    tool: str
    why: str
    grade: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", agreeing(self.why))


STAGES_ASKED = Probe("server.launch", "the number of stages is not known", 0)
"""What every cause of a pipeline asks first."""


@dataclass(frozen=True)
class Remedy:
    """One way to remove a cause, with what it risks and how to come back."""

    cause: str
    kind: RemedyKind
    title: str
    change: Change
    """Flags are named as the newest known SGLang spells them; `ppagent.changes` turns them into the spelling of the
    installed version, or drops the remedy where that version has no such flag. A switch is set with "true"."""
    cites: tuple[str, ...]
    risks: tuple[str, ...] = ()
    verify: str = ""
    rollback: str = ""
    alone: bool = False
    """True where it is an alternative that must not be merged with the other relaunch remedies."""
    extends: bool = False
    """True where it only pays on top of the shared restart: offered as that restart with this added."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", agreeing(self.title))
        object.__setattr__(self, "risks", tuple(agreeing(risk) for risk in self.risks))


@dataclass(frozen=True)
class Declined:
    """A lever that looks right and is not, with the reason; shown so that nobody pulls it."""

    lever: str
    why: str
    cites: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", agreeing(self.why))


@dataclass(frozen=True)
class Advice:
    """What a supported cause leads to. Remedies in the order in which they should be tried."""

    remedies: tuple[Remedy, ...] = ()
    declined: tuple[Declined, ...] = ()


class Cause(Protocol):
    """A cause of the closed list."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def prior(self) -> float:
        """How often it holds where somebody asks, before anything is looked at."""
        ...

    @property
    def wants(self) -> tuple[str, ...]:
        """Fact names that would decide it; the brain asks the tools that provide them."""
        ...

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        """Everything the facts say for and against. A fact that is not there says nothing."""
        ...

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        """What is still missing to decide; empty when nothing is."""
        ...

    def advise(self, facts: Facts) -> Advice:
        """Called only where the cause is supported."""
        ...
