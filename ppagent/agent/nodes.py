"""The nodes: each is one step of the loop, a plain method from the state to what changes in it."""

from ppagent.agent.approvals import GRADE_MEANS, denial, request_for
from ppagent.agent.asking import ask
from ppagent.agent.choosing import Stop, ToolCall
from ppagent.agent.desk import Desk
from ppagent.agent.opening import opening_call
from ppagent.agent.state import CallRow, State
from ppagent.agent.trying import trying_call
from ppagent.evidence.evidence import Missing


class Nodes:
    """The loop's steps over one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def look(self, state: State) -> State:
        """What can be asked here at all; what failed to load is noted."""
        for warning in self.desk.toolbox.warnings:
            self.desk.ledger.add_missing(Missing("plugins", warning))
        return self.judge(state)

    def choose(self, state: State) -> State:
        """The next question, or the reason why there is none."""
        over = self.desk.budget.used_up(self.desk.cost(state))
        if over:
            return State(call=None, stopped=over, budget_used_up=True)
        view = self.desk.view(state)
        choice = opening_call(view) or self.desk.brain.choose(view)
        if isinstance(choice, Stop) and not choice.budget_used_up:
            choice = trying_call(self.desk, view) or choice
        if isinstance(choice, Stop):
            return State(call=None, stopped=choice.why, budget_used_up=choice.budget_used_up)
        if choice.key in view.asked:
            return State(call=None, stopped=f"{choice.tool} was asked this already")
        return State(call=self._row(choice), allowed=False, asked=[*state["asked"], choice.key])

    def approve(self, state: State) -> State:
        """Whether the question may be asked. This node runs again from its first line when an answer comes in, so it
        does nothing else."""
        call = _chosen(state)
        if call["grade"] <= self.desk.ceiling:
            return State(allowed=True)
        if not self.desk.can_ask:
            grade = call["grade"]
            above = f"above the ceiling of {int(self.desk.ceiling)}; --ceiling {grade} allows it"
            reason = f"it {GRADE_MEANS[grade]} (grade {grade}), which is {above}"
            return State(allowed=False, denied=[*state["denied"], denial(call, reason)])
        from langgraph.types import interrupt

        offer = self.desk.toolbox.find(call["tool"])
        if interrupt(request_for(call, offer, self.desk.context).as_data()):
            return State(allowed=True)
        return State(allowed=False, denied=[*state["denied"], denial(call, "not allowed")])

    def act(self, state: State) -> State:
        """Asks the tool."""
        row = _chosen(state)
        call = ToolCall(row["tool"], row["why"], row["arguments"])
        if self.desk.watch is not None:
            self.desk.watch(call)
        grade = str(row["grade"])
        counted = {**state["tool_calls"], grade: state["tool_calls"].get(grade, 0) + 1}
        return State(evidence=[*state["evidence"], *ask(self.desk, call)], tool_calls=counted)

    def judge(self, state: State) -> State:
        """The board as the evidence has it now."""
        return State(hypotheses={h.cause_id: h.state for h in self.desk.board().hypotheses})

    def propose(self, state: State) -> State:
        """What to do about it."""
        self.desk.propose()
        return State(call=None)

    def _row(self, call: ToolCall) -> CallRow:
        offer = self.desk.toolbox.find(call.tool)
        grade = int(offer.grade) if offer is not None else 0
        return CallRow(tool=call.tool, arguments=dict(call.arguments), why=call.why, grade=grade)


def _chosen(state: State) -> CallRow:
    call = state["call"]
    if call is None:
        raise AssertionError("approve and act run only after a question was chosen")
    return call
