"""The board: every cause as a numbered hypothesis whose state is computed from the evidence at hand."""

from dataclasses import dataclass
from typing import Literal

from ppagent.causes.catalog import all_causes
from ppagent.causes.judge import Judgement, State, judge
from ppagent.evidence.facts import Facts

Verdict = Literal["diagnosed", "healthy", "not_enough_evidence"]

NOT_A_FAULT = frozenset({"LB001", "PP002", "PR001", "ME001"})
"""Causes that, alone, leave the server healthy."""

CORE_FACTS = ("decode.lines", "metrics.window_s")
"""A verdict of healthy needs the server seen at work, one way or the other, and its arguments."""


@dataclass(frozen=True)
class Hypothesis:
    """One cause of the list under investigation."""

    id: str
    judgement: Judgement

    @property
    def cause_id(self) -> str:
        return self.judgement.cause.id

    @property
    def state(self) -> State:
        return self.judgement.state


@dataclass(frozen=True)
class Board:
    """All hypotheses, most telling first within each state."""

    hypotheses: tuple[Hypothesis, ...]

    def in_state(self, state: State) -> tuple[Hypothesis, ...]:
        return tuple(h for h in self.hypotheses if h.state == state)

    @property
    def supported(self) -> tuple[Hypothesis, ...]:
        return self.in_state("supported")

    def of(self, cause_id: str) -> Hypothesis | None:
        return next((h for h in self.hypotheses if h.cause_id == cause_id), None)


_ORDER: dict[State, int] = {"supported": 0, "open": 1, "cannot_tell": 2, "refuted": 3}


def compute_board(facts: Facts) -> Board:
    """The board as the facts have it: recomputed whole after every tool call."""
    judged = [judge(cause, facts) for cause in all_causes()]
    judged.sort(key=lambda j: (_ORDER[j.state], -j.confidence, j.cause.id))
    return Board(tuple(Hypothesis(f"H{n}", j) for n, j in enumerate(judged, 1)))
