"""What a model thought of, as the report will show it: looked up, spelled out as a command, and labelled."""

from dataclasses import dataclass

from ppagent.agent.board import Board
from ppagent.agent.contribution import OTHER, UNPROVEN, OwnHypothesis, Remark
from ppagent.brains.llm.checks import Statement
from ppagent.brains.llm.predictions import Expectation, confidence_of, looked_up, state_of
from ppagent.causes.cause import Change
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.changes.forecasts import forecast, why_none
from ppagent.changes.proposal import Proposal
from ppagent.evidence.facts import Facts


@dataclass(frozen=True)
class Idea:
    """A cause outside the board."""

    id: str
    statement: Statement
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True)
class Plan:
    """A change that tests an idea or cures a supported cause."""

    about: str
    statement: Statement
    change: Change


def own_hypothesis(idea: Idea, facts: Facts) -> OwnHypothesis:
    """The idea with its predictions looked up in the facts as they are now."""
    predictions = tuple(looked_up(expectation, facts) for expectation in idea.expectations)
    return OwnHypothesis(
        idea.id,
        idea.statement.says,
        state_of(predictions),
        confidence_of(predictions),
        predictions,
        idea.statement.cites,
    )


def stands(remark: Remark, board: Board) -> bool:
    """Whether the board, as it is at the end, does not say the opposite of a remark."""
    hypothesis = board.of(remark.about)
    if hypothesis is None:
        return True
    return hypothesis.state != ("refuted" if remark.stance == "for" else "supported")


def as_proposal(plan: Plan, installed: Installed, facts: Facts) -> Proposal:
    """The change as a proposal of the model's own; its id is given where it joins the others."""
    relaunch = relaunch_command(plan.change, installed)
    predicted = forecast(plan.change, facts)
    return Proposal(
        id="",
        causes=(OTHER,),
        kind="relaunch",
        title=f"{UNPROVEN}: {plan.statement.says}",
        change=plan.change,
        cites=plan.statement.cites,
        command=relaunch.command,
        diff=relaunch.diff,
        predicted=predicted,
        unpredicted=why_none("relaunch", plan.change, facts) if predicted is None else "",
        risks=("a model thought of it and nobody has tried it here",),
        verify="measure tok/s at the same load before and after",
        rollback="launch with the old command again",
    )
