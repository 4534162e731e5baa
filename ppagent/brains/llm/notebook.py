"""What the model has said and code has let stand, and how much it has not.

A statement that breaks a rule goes back with the reason. One that is never put right is struck: it stands in no
report, which says how many there were.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ppagent.agent.board import Board, Hypothesis
from ppagent.agent.choosing import View
from ppagent.agent.contribution import Contribution, Remark
from ppagent.brains.llm.checks import Grounds, Statement, named_causes, problems, tidied
from ppagent.brains.llm.drafts import Idea, Plan, as_proposal, own_hypothesis, stands
from ppagent.brains.llm.levers import changed, numbers_in, refusals
from ppagent.brains.llm.moves import Argue, Finish, Hypothesise, Propose
from ppagent.brains.llm.predictions import Expectation, unknown_name
from ppagent.changes.commands import Installed
from ppagent.evidence.facts import Facts

MOST_HYPOTHESES = 5
MOST_REMARKS = 12
MOST_PROPOSALS = 3


@dataclass
class Notebook:
    """The model's own words so far."""

    ideas: list[Idea] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    _rejected: Counter[str] = field(default_factory=Counter)

    def hypothesise(self, move: Hypothesise, view: View) -> str:
        """Takes a hypothesis down; the answer tells what became of each prediction."""
        statement = _statement(move.says, move.evidence)
        expectations = tuple(Expectation(p.fact, p.comparison, p.value) for p in move.predictions)
        wrong = problems(statement, _grounds(view))
        wrong += [why for e in expectations if (why := unknown_name(e.fact, view.facts))]
        wrong += [f"{cause} is on the board: argue it there" for cause in named_causes(statement.says, view.board)]
        if len(self.ideas) >= MOST_HYPOTHESES or any(idea.statement.says == statement.says for idea in self.ideas):
            return "Not taken: you said this already, or said enough."
        if wrong:
            return self._reject("hypothesise", wrong)
        self._accept("hypothesise")
        idea = Idea(f"M{len(self.ideas) + 1}", statement, expectations)
        self.ideas.append(idea)
        found = own_hypothesis(idea, view.facts)
        told = "; ".join(f"{p.outcome}: {p.says}" for p in found.predictions)
        return f"{idea.id} taken down, {found.state}. {told}"

    def argue(self, move: Argue, view: View) -> str:
        """Takes down a sentence about a cause of the board, where the evidence it cites speaks that way."""
        statement = _statement(move.says, move.evidence)
        hypothesis = view.board.of(move.cause.upper())
        key = f"argue {move.cause.upper()}"
        if hypothesis is None:
            return self._reject(key, [f"there is no cause {move.cause[:20]}"])
        wrong = problems(statement, _grounds(view)) + _one_sided(move, hypothesis, statement)
        wrong += [f"it speaks of {c}" for c in named_causes(statement.says, view.board, (hypothesis.cause_id,))]
        if len(self.remarks) >= MOST_REMARKS:
            return "Not taken: you have said enough."
        if wrong:
            return self._reject(key, wrong)
        self._accept(key)
        self.remarks.append(Remark(hypothesis.cause_id, move.stance, statement.says, statement.cites))
        return "Taken down."

    def propose(self, move: Propose, view: View) -> str:
        """Takes a change down that this version would accept and that tests or cures something."""
        statement = _statement(move.says, move.evidence)
        change = changed([(s.flag, s.value) for s in move.set], move.unset, [(v.name, v.value) for v in move.env])
        installed = Installed.of(view.facts)
        wrong = problems(statement, _grounds(view, installed), numbers_in(change)) + self._groundless(move.about, view)
        wrong += refusals(change, installed, view.board, view.facts)
        wrong += [f"it speaks of {cause}" for cause in named_causes(statement.says, view.board, (move.about.upper(),))]
        if len(self.plans) >= MOST_PROPOSALS or any(plan.change == change for plan in self.plans):
            return "Not taken: you proposed this already, or proposed enough."
        if wrong:
            return self._reject(f"propose {move.about}", wrong)
        self._accept(f"propose {move.about}")
        self.plans.append(Plan(move.about.upper(), statement, change))
        return "Taken down as your own proposal, unproven until tried."

    def close(self, move: Finish, view: View) -> str:
        """Takes the closing words down; none are needed."""
        if not move.says.strip():
            return ""
        statement = _statement(move.says, move.evidence)
        wrong = problems(statement, _grounds(view))
        wrong += [f"{cause} is not supported" for cause in named_causes(statement.says, view.board)]
        if wrong:
            return self._reject("finish", wrong)
        self._accept("finish")
        self.remarks.append(Remark("", "closing", statement.says, statement.cites))
        return "Taken down."

    def shown(self, facts: Facts) -> str:
        """What stands so far, for the model."""
        lines = [f"Your {i.id}: {i.statement.says} ({own_hypothesis(i, facts).state})" for i in self.ideas]
        lines += [f"Said for {r.about}: {r.says}" for r in self.remarks if r.about]
        lines += [f"Proposed for {p.about}: {p.statement.says}" for p in self.plans]
        return "\n".join(lines)

    def contribution(self, model: str, notes: tuple[str, ...], board: Board, facts: Facts) -> Contribution:
        """What may stand in the report, held against the board and the facts as they are at the end."""
        ideas = tuple(own_hypothesis(idea, facts) for idea in self.ideas)
        remarks = tuple(remark for remark in self.remarks if stands(remark, board))
        refuted = {idea.id for idea in ideas if idea.state == "refuted"}
        plans = [plan for plan in self.plans if plan.about not in refuted]
        installed = Installed.of(facts)
        dropped = len(self.remarks) - len(remarks) + len(self.plans) - len(plans)
        return Contribution(
            model=model,
            hypotheses=ideas,
            remarks=remarks,
            proposals=tuple(as_proposal(plan, installed, facts) for plan in plans),
            struck=sum(self._rejected.values()) + dropped,
            notes=notes,
        )

    def _groundless(self, about: str, view: View) -> list[str]:
        """Whether there is nothing that the change would test or cure."""
        idea = next((idea for idea in self.ideas if idea.id == about.upper()), None)
        if idea is not None:
            state = own_hypothesis(idea, view.facts).state
            return [] if state == "open" else [f"no prediction of {idea.id} holds, or one fails"]
        hypothesis = view.board.of(about.upper())
        if hypothesis is not None and hypothesis.state == "supported":
            return []
        return [f"{about[:20]!r} is no hypothesis of yours and no supported cause"]

    def _reject(self, key: str, wrong: Sequence[str]) -> str:
        self._rejected[key] += 1
        return f"Not taken: {'; '.join(dict.fromkeys(wrong))}."

    def _accept(self, key: str) -> None:
        """A statement in the place of one that was sent back."""
        if self._rejected[key]:
            self._rejected[key] -= 1


def _statement(says: str, cites: Sequence[str]) -> Statement:
    return Statement(tidied(says), tuple(dict.fromkeys(cite.strip().strip("[]") for cite in cites)))


def _grounds(view: View, installed: Installed | None = None) -> Grounds:
    known = (installed or Installed.of(view.facts)).catalogue
    causes = {hypothesis.cause_id for hypothesis in view.board.hypotheses}
    return Grounds(view.evidence, known.by_spelling if known is not None else {}, causes)


def _one_sided(move: Argue, hypothesis: Hypothesis, statement: Statement) -> list[str]:
    """Whether code observed nothing in that direction in the evidence that is cited."""
    judgement = hypothesis.judgement
    observed = judgement.because if move.stance == "for" else judgement.against
    if any(set(observation.cites) & set(statement.cites) for observation in observed):
        return []
    return [f"code sees nothing {move.stance} {hypothesis.cause_id} in that evidence"]
