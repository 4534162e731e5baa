"""Fakes for tests of a session: a screen, a person, a session over fake tools."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ppagent.agent.budget import Budget
from ppagent.agent.choosing import Brain
from ppagent.agent.desk import Desk
from ppagent.agent.toolbox import open_toolbox
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.chat.consent import Consent
from ppagent.chat.session import Session
from ppagent.plugins import Grade, Tool, ToolContext
from ppagent.report.lines import Line
from tests.agent.fakes import FakeCause, FakeTarget, FakeTool, built_in

HUNG = FakeCause("PP008", "trouble.hung")


@dataclass
class FakeScreen:
    """Keeps what it is shown."""

    width: int = 80
    lines: list[str] = field(default_factory=list)
    worked: list[str] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)
    takes_controls: bool = True

    def show(self, lines: Iterable[Line]) -> None:
        self.lines += [line.text for line in lines]

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        self.worked.append(what)
        yield

    def markdown(self, pieces: Iterable[str]) -> str:
        text = "".join(pieces)
        self.lines += text.splitlines()
        return text

    def control(self, sequence: str) -> bool:
        self.controls.append(sequence)
        return self.takes_controls

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass
class FakePerson:
    """Says and answers what the script holds; an exception in it is raised. At its end the input ends."""

    says: list[str | type[BaseException]] = field(default_factory=list)
    answers: list[str | type[BaseException]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def read(self) -> str:
        return _next(self.says)

    def ask(self, question: str) -> str:
        self.questions.append(question)
        return _next(self.answers)


@dataclass
class FakeRecorder:
    """Keeps the lines of a session's file."""

    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def write(self, kind: str, /, **data: Any) -> None:
        self.rows.append((kind, data))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [data for written, data in self.rows if written == kind]


def fake_session(
    *tools: Tool,
    causes: Sequence[FakeCause] = (HUNG,),
    kind: str = "ssh",
    person: FakePerson | None = None,
    brain: Brain | None = None,
    ceiling: Grade = Grade.READ_HOST,
) -> Session:
    """A session about a fake live server with these tools and no others, whose person wants everything asked."""
    screen = FakeScreen()
    desk = Desk(
        context=ToolContext(FakeTarget(kind)),
        toolbox=open_toolbox([built_in(*tools)], kind),
        brain=brain or RulesBrain(),
        planner=make_plan,
        budget=Budget(),
        ceiling=ceiling,
        causes=causes,
        recorder=FakeRecorder(),
    )
    return Session("s1", "ssh://fake", desk, screen, Consent(screen, person), insists=True)


def screen_of(session: Session) -> FakeScreen:
    assert isinstance(session.screen, FakeScreen)
    return session.screen


def recorder_of(session: Session) -> FakeRecorder:
    assert isinstance(session.desk.recorder, FakeRecorder)
    return session.desk.recorder


def probe(grade: Grade = Grade.READ_HOST, **options: Any) -> FakeTool:
    """A tool that tells whether the fake cause holds."""
    return FakeTool("fake.probe", {"trouble.hung": True}, grade=grade, **options)


def _next(script: list[str | type[BaseException]]) -> str:
    if not script:
        raise EOFError
    step = script.pop(0)
    if isinstance(step, str):
        return step
    raise step
