"""One investigation from a target to its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ppagent.agent.approvals import Approver, Request
from ppagent.agent.board import Board, Verdict
from ppagent.agent.budget import Budget, Cost
from ppagent.agent.choosing import Brain
from ppagent.agent.contribution import NOTHING, Contributes, Contribution, with_own
from ppagent.agent.desk import Desk, Planner, Watcher
from ppagent.agent.graph import build_graph, recursion_limit
from ppagent.agent.nodes import Nodes
from ppagent.agent.probes import next_probes
from ppagent.agent.recording import head_of, tail_of
from ppagent.agent.state import DeniedRow, State, fresh_state
from ppagent.agent.summary import summary_of
from ppagent.agent.toolbox import open_toolbox
from ppagent.causes.catalog import all_causes
from ppagent.causes.cause import Cause, Probe
from ppagent.changes.proposal import Plan
from ppagent.evidence.evidence import Evidence, Missing
from ppagent.evidence.facts import Facts
from ppagent.evidence.masking import mask
from ppagent.plugins import Grade, ToolContext, ToolSource
from ppagent.sessions import FIRST_KIND, Recorder, Unrecorded, new_session
from ppagent.targets.named import Named
from ppagent.targets.target import NO_SERVER, Target

Status = Literal["finished", "budget_used_up", "cancelled"]


@dataclass(frozen=True)
class Investigation:
    """The result: all that a report says comes out of it."""

    session: str
    target_kind: str
    target_name: str
    brain: str
    question: str
    status: Status
    stopped: str
    """Why the loop ended, in words."""
    verdict: Verdict
    summary: str
    board: Board
    evidence: tuple[Evidence, ...]
    missing: tuple[Missing, ...]
    plan: Plan
    next_probes: tuple[Probe, ...]
    denied: tuple[DeniedRow, ...]
    cost: Cost
    contribution: Contribution = NOTHING
    """What the brain adds in its own words."""
    target_words: str = ""
    """A live target as words of a command line; empty for another."""

    @property
    def facts(self) -> Facts:
        return Facts(self.evidence)


def investigate(
    target: Target,
    sources: Sequence[ToolSource],
    *,
    brain: Brain,
    planner: Planner,
    ceiling: Grade = Grade.READ_HOST,
    budget: Budget | None = None,
    question: str = "",
    approver: Approver | None = None,
    watch: Watcher | None = None,
    session: str = "",
    recorder: Recorder | None = None,
    causes: Sequence[Cause] | None = None,
) -> Investigation:
    """Asks tools until nothing can move the board, and says what it comes to.

    `planner` turns the board into proposals (`ppagent.changes.plan.make_plan`). `approver` answers for tools above
    `ceiling`; without one they are denied and listed. Ctrl-C ends the asking, not the report: the result then has the
    status "cancelled" and holds what was collected.
    """
    desk = Desk(
        context=ToolContext(target),
        toolbox=open_toolbox(sources, target.kind),
        brain=brain,
        planner=planner,
        budget=budget or Budget(),
        ceiling=ceiling,
        question=mask(question),
        can_ask=approver is not None,
        watch=watch,
        recorder=recorder or Unrecorded(),
        causes=all_causes() if causes is None else causes,
    )
    loop = _Loop(desk, approver, session or new_session())
    desk.recorder.write(FIRST_KIND, **head_of(desk, loop.session))
    try:
        loop.run()
    except KeyboardInterrupt:
        return _result(loop, "cancelled")
    return _result(loop, "budget_used_up" if loop.state["budget_used_up"] else "finished")


class _Loop:
    """Runs the graph to its end, over approvals, and remembers the last whole state for when it is cut short."""

    def __init__(self, desk: Desk, approver: Approver | None, session: str) -> None:
        self.state: State = fresh_state()
        self.session = session
        self.desk = desk
        self._approver = approver
        self._config: dict[str, Any] = {
            "recursion_limit": recursion_limit(desk.budget),
            "configurable": {"thread_id": session},
        }

    def run(self) -> None:
        graph: Any = build_graph(Nodes(self.desk))
        entry: Any = self.state
        while True:
            asked = None
            for step in graph.stream(entry, self._config, stream_mode="values"):
                pending = step.pop("__interrupt__", ())
                asked = pending[0].value if pending else None
                self.state = step
            if asked is None or self._approver is None:
                return
            allowed = self._approver(Request(**asked))
            self.desk.recorder.write("approval", tool=asked["tool"], grade=asked["grade"], allowed=allowed)
            entry = _resume(allowed)


def _resume(answer: bool) -> Any:
    from langgraph.types import Command

    return Command(resume=answer)


def _result(loop: _Loop, status: Status) -> Investigation:
    desk, state, target = loop.desk, loop.state, loop.desk.context.target
    board, facts, plan = desk.board(), desk.facts(), desk.propose()
    verdict, probes = desk.verdict(), next_probes(board, facts)
    added = desk.brain.contribution(board, facts) if isinstance(desk.brain, Contributes) else NOTHING
    found = Investigation(
        session=loop.session,
        target_kind=target.kind,
        target_name=target.name,
        brain=desk.brain.name,
        question=desk.question or facts.text("stated.question") or "",
        status=status,
        stopped="cancelled" if status == "cancelled" else state["stopped"],
        verdict=verdict,
        summary=_no_server(verdict, desk.ledger.missing) or summary_of(verdict, board, facts, plan, probes),
        board=board,
        evidence=tuple(desk.ledger.evidence),
        missing=tuple(desk.ledger.missing),
        plan=with_own(plan, added.proposals),
        next_probes=probes,
        denied=tuple(state["denied"]),
        cost=desk.cost(state),
        contribution=added,
        target_words=target.words if isinstance(target, Named) else "",
    )
    desk.recorder.write("end", **tail_of(found))
    return found


def _no_server(verdict: Verdict, missing: Sequence[Missing]) -> str:
    """That there is no server to look at, where that is why nothing is decided; empty otherwise."""
    why = next((each.why for each in missing if each.tool.startswith("http.") and NO_SERVER in each.why), "")
    return f"{why[:1].upper()}{why[1:]}." if why and verdict == "not_enough_evidence" else ""
