"""What the loop asks of a brain, and what the brain sees when it is asked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ppagent.agent.board import Board, Verdict
from ppagent.agent.budget import Budget, Cost
from ppagent.agent.toolbox import Offer
from ppagent.evidence.evidence import Evidence, Missing
from ppagent.evidence.facts import Facts
from ppagent.plugins import Grade


@dataclass(frozen=True)
class ToolCall:
    """The next question: a tool by name, its arguments, and why it is asked (one clause, for the person)."""

    tool: str
    why: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for the same question."""
        return f"{self.tool} {json.dumps(dict(self.arguments), sort_keys=True, default=str)}"


@dataclass(frozen=True)
class Stop:
    """No further question, and why."""

    why: str
    budget_used_up: bool = False
    """Whether the brain had to stop short of what it would have done."""


@dataclass(frozen=True)
class Usage:
    """What a brain has used up so far."""

    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class View:
    """All that a brain may know when it chooses."""

    question: str
    board: Board
    verdict: Verdict
    facts: Facts
    evidence: tuple[Evidence, ...]
    missing: tuple[Missing, ...]
    offers: tuple[Offer, ...]
    asked: frozenset[str]
    """Keys of the questions chosen so far."""
    ceiling: Grade
    """Highest grade that needs nobody's approval."""
    budget: Budget = Budget()
    cost: Cost = Cost()
    """What was spent of it so far."""

    def unasked(self) -> tuple[Offer, ...]:
        """Offers that need no argument and were not asked yet, whatever for."""
        names = {key.partition(" ")[0] for key in self.asked}
        return tuple(o for o in self.offers if o.takes_no_arguments and o.name not in names)


class Brain(Protocol):
    """Chooses the next question. It never touches the target, and it cannot change a cause's state."""

    @property
    def name(self) -> str: ...

    def choose(self, view: View) -> ToolCall | Stop: ...

    def usage(self) -> Usage: ...
