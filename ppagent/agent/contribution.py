"""What a brain adds in its own words to what the code computed: checked where it can be, labelled as its own, and
never part of the verdict or of a cause's state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from ppagent.agent.board import Board
from ppagent.causes.judge import State
from ppagent.changes.proposal import Plan, Proposal
from ppagent.evidence.facts import Facts

OTHER = "other"
"""In the place of a cause's id: the closed list does not hold it."""

UNPROVEN = "the model's own hypothesis, unproven until tried"

Outcome = Literal["holds", "fails", "unknown"]
Stance = Literal["for", "against", "closing"]


@dataclass(frozen=True)
class Prediction:
    """What a hypothesis says a fact must be, looked up by code."""

    says: str
    """The fact, its value and the expectation, in words made by code."""
    outcome: Outcome
    cites: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnHypothesis:
    """A cause that the model thought of. It is never `supported`: nobody has tried it."""

    id: str
    says: str
    state: State
    confidence: float
    """By the predictions that hold and fail, each a weak observation."""
    predictions: tuple[Prediction, ...]
    cites: tuple[str, ...]


@dataclass(frozen=True)
class Remark:
    """A sentence of the model: its figures stand in the evidence that it cites, its words are its own."""

    about: str
    """A cause's id, a hypothesis of its own (M1), or empty for the closing words."""
    stance: Stance
    says: str
    cites: tuple[str, ...]


@dataclass(frozen=True)
class Contribution:
    """Everything that a brain adds."""

    model: str = ""
    """Which model spoke; empty where none did."""
    hypotheses: tuple[OwnHypothesis, ...] = ()
    remarks: tuple[Remark, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    struck: int = 0
    """Statements that did not hold against the evidence and were left out."""
    notes: tuple[str, ...] = ()
    """What a reader has to know: who finished, and why."""


NOTHING = Contribution()


@runtime_checkable
class Contributes(Protocol):
    """A brain that has something to say of its own."""

    def contribution(self, board: Board, facts: Facts) -> Contribution:
        """What it adds, held against the board and the facts as they are at the end."""
        ...


def with_own(plan: Plan, own: Sequence[Proposal]) -> Plan:
    """The plan with a brain's own proposals behind the others; a change that the plan has already is not added."""
    proposals = list(plan.proposals)
    for proposal in own:
        if all(proposal.change != known.change for known in proposals):
            proposals.append(replace(proposal, id=f"P{len(proposals) + 1}"))
    return replace(plan, proposals=tuple(proposals))
