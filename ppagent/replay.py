"""Runs a recorded session again, offline: tools and model answer out of the file, everything else is computed anew."""

import math
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from ppagent.agent.approvals import Request
from ppagent.agent.budget import Budget
from ppagent.agent.choosing import Brain
from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.llm.brain import LlmBrain, Settings
from ppagent.brains.llm.model import Called, Function, Message, ModelFailed, Reply, Spent
from ppagent.brains.llm.prices import Prices
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, Tool, ToolContext, ToolSource
from ppagent.sessions import Session, read_session
from ppagent.targets.target import Artifact, Shared, SourceTree

Row = Mapping[str, Any]


def replay(path: Path) -> Investigation:
    """The investigation of a session's file. Raises UserError where the file is no session."""
    session = read_session(path)
    try:
        return _replay(session)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not whole: {error}.", "Replay a session as ppagent wrote it.") from error


def _replay(session: Session) -> Investigation:
    head = session.head
    approvals = deque(bool(row["allowed"]) for row in session.of("approval"))

    def approve(_request: Request) -> bool:
        return approvals.popleft() if approvals else False

    return investigate(
        _Target(head["target"]["kind"], head["target"]["name"], tuple(head["target"]["hosts"])),
        _sources(session),
        brain=_brain(session),
        planner=make_plan,
        ceiling=Grade(head["ceiling"]),
        budget=replace(Budget(**head["budget"]), seconds=math.inf),
        question=head["question"],
        approver=approve if head["can_ask"] else None,
        session=head["session"],
    )


@dataclass(frozen=True)
class _Target:
    """The target's name; what it held stands in the session."""

    kind: str
    name: str
    hosts: tuple[str, ...]

    def text(self, host: str, artifact: Artifact) -> str:
        raise NotRecorded("a session holds answers, no artifacts")

    def log(self, host: str) -> Iterator[bytes]:
        raise NotRecorded("a session holds answers, no artifacts")

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        raise NotRecorded("a session holds answers, no artifacts")

    def source(self, host: str) -> SourceTree:
        raise NotRecorded("a session holds answers, no artifacts")

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded("a session holds answers, no artifacts")


@dataclass
class _Tool:
    """A tool that gives its recorded answers in their order."""

    name: str
    summary: str
    grade: Grade
    provides: tuple[str, ...]
    arguments: type[BaseModel]
    answers: deque[Row]

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        if not self.answers:
            raise NotRecorded("this was not asked when the session was recorded")
        answer = self.answers.popleft()
        if "missing" in answer:
            raise ToolError(answer["missing"])
        return [_finding(row) for row in answer["evidence"]]


def _finding(row: Row) -> Finding:
    return Finding(row["artifact"], row["facts"], row["excerpt"], row["host"], row["at"], row["authority"])


def _sources(session: Session) -> list[ToolSource]:
    answers: dict[str, deque[Row]] = defaultdict(deque)
    for row in session.of("tool"):
        answers[row["tool"]].append(row)
    tools: dict[str, list[Tool]] = defaultdict(list)
    for row in session.head["tools"]:
        tools[row["origin"]].append(_tool(row, answers[row["name"]]))
    return [ToolSource(origin, origin, tuple(found)) for origin, found in tools.items()]


def _tool(row: Row, answers: deque[Row]) -> _Tool:
    """The tool with the names of its arguments; their types do not matter, as nothing is asked."""
    fields: dict[str, Any] = {name: (Any, Field()) for name in row["required"]}
    fields |= {name: (Any, Field(default=None)) for name in row["optional"]}
    arguments = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    return _Tool(row["name"], row["summary"], Grade(row["grade"]), tuple(row["provides"]), arguments, answers)


def _brain(session: Session) -> Brain:
    about = next(iter(session.of("model")), None)
    if about is None:
        return RulesBrain()
    prices = Prices(**about["prices"])
    settings = Settings(prices, about["context_tokens"], about["reply_tokens"], about["endpoint"])
    handed = next((row["why"] for row in session.of("handed_over")), "")
    return LlmBrain(_RecordedModel(about["name"], deque(session.of("reply")), handed), settings)


@dataclass
class _RecordedModel:
    """Gives the recorded replies; where they end, it fails as the model did."""

    name: str
    replies: deque[Row]
    handed_over: str

    def complete(self, messages: Sequence[Message], functions: Sequence[Function], *, seconds: float) -> Reply:
        if not self.replies:
            raise ModelFailed(self.handed_over.rpartition("so the rules finished: ")[2] or "the recorded session ends.")
        row = self.replies.popleft()
        price = row["price"]
        return Reply(
            row["text"],
            tuple(Called(call["id"], call["name"], call["arguments"]) for call in row["calls"]),
            row["reasoning"],
            Spent(price["prompt_tokens"], price["completion_tokens"], price["estimated"]),
        )
