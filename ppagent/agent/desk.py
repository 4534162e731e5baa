"""What the nodes work with and the graph's state does not carry: the ledger, the tools, the brain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from ppagent.agent.board import Board, Verdict, compute_board, verdict_of
from ppagent.agent.budget import Budget, Cost
from ppagent.agent.choosing import Brain, ToolCall, View
from ppagent.agent.state import State
from ppagent.agent.toolbox import Toolbox
from ppagent.causes.catalog import all_causes
from ppagent.causes.cause import Cause
from ppagent.causes.judge import Judgement
from ppagent.changes.proposal import Plan
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.plugins import Grade, ToolContext
from ppagent.sessions import Recorder, Unrecorded

Planner = Callable[[Sequence[Judgement], Facts], Plan]
Watcher = Callable[[ToolCall], None]


@dataclass
class Desk:
    """One investigation's things. The board is computed again whenever the ledger has grown."""

    context: ToolContext
    toolbox: Toolbox
    brain: Brain
    planner: Planner
    budget: Budget
    ceiling: Grade = Grade.READ_HOST
    question: str = ""
    can_ask: bool = False
    """Whether somebody can be asked to allow a tool above the ceiling."""
    watch: Watcher | None = None
    """Called before a tool is asked, for whoever looks on."""
    recorder: Recorder = field(default_factory=Unrecorded)
    causes: Sequence[Cause] = field(default_factory=all_causes)
    ledger: Ledger = field(default_factory=Ledger)
    plan: Plan | None = None
    started: float = field(default_factory=monotonic)
    _judged: tuple[int, Facts, Board] | None = None

    def facts(self) -> Facts:
        return self._current()[1]

    def board(self) -> Board:
        return self._current()[2]

    def verdict(self) -> Verdict:
        return verdict_of(self.board(), self.facts())

    def propose(self) -> Plan:
        """The plan that the board leads to, made once."""
        if self.plan is None:
            self.plan = self.planner([h.judgement for h in self.board().supported], self.facts())
        return self.plan

    def cost(self, state: State) -> Cost:
        usage = self.brain.usage()
        return Cost(monotonic() - self.started, len(state["asked"]), state["tool_calls"], usage.tokens, usage.usd)

    def view(self, state: State) -> View:
        """What the brain sees."""
        return View(
            question=self.question or self.facts().text("stated.question") or "",
            board=self.board(),
            verdict=self.verdict(),
            facts=self.facts(),
            evidence=tuple(self.ledger.evidence),
            missing=tuple(self.ledger.missing),
            offers=self.toolbox.offers,
            asked=frozenset(state["asked"]),
            ceiling=self.ceiling,
            budget=self.budget,
            cost=self.cost(state),
        )

    def _current(self) -> tuple[int, Facts, Board]:
        size = len(self.ledger.evidence)
        if self._judged is None or self._judged[0] != size:
            facts = self.ledger.facts()
            self._judged = (size, facts, compute_board(facts, self.causes))
        return self._judged
