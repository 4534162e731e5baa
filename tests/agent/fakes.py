"""Fakes for tests of the loop and of what stands on it: a target, tools, causes, a brain, a plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from ppagent.agent.choosing import Stop, ToolCall, Usage, View
from ppagent.agent.desk import Planner
from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.rules import RulesBrain
from ppagent.causes.cause import Advice, Observation, Probe
from ppagent.causes.judge import Judgement
from ppagent.changes.proposal import Plan
from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.facts import Facts
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext, ToolSource
from ppagent.targets.target import Artifact, Shared, SourceTree


@dataclass
class FakeTarget:
    """A target that holds nothing: the fake tools bring their own answers."""

    kind: str = "recording"
    name: str = "fake-pp8"
    hosts: tuple[str, ...] = ("box",)

    def text(self, host: str, artifact: Artifact) -> str:
        raise NotRecorded(f"no {artifact.value}")

    def log(self, host: str) -> Iterator[bytes]:
        raise NotRecorded("no server.log")

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        raise NotRecorded("no metrics")

    def source(self, host: str) -> SourceTree:
        raise NotRecorded("no source")

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(f"no {artifact.value}")


@dataclass
class FakeTool:
    """Answers with `facts` (one finding), or raises `error`."""

    name: str
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    grade: Grade = Grade.READ_FILE
    provides: tuple[str, ...] = ()
    error: BaseException | None = None
    artifact: str = "server.log"
    excerpt: str = ""
    authority: int = 1
    summary: str = "A fake."
    arguments: type[BaseModel] = NoArguments
    runs: list[BaseModel] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.provides = self.provides or tuple(self.facts)

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        self.runs.append(arguments)
        if self.error is not None:
            raise self.error
        return (Finding(self.artifact, self.facts, self.excerpt, "box", authority=self.authority),)


@dataclass
class FakeCause:
    """Holds where `fact` is true and not where it is false; its probe asks `tool`."""

    id: str
    fact: str
    name: str = "a fake cause"
    prior: float = 0.2
    tool: str = "fake.probe"
    grade: int = 0
    weights: tuple[float, float] = (0.95, 0.02)

    @property
    def wants(self) -> tuple[str, ...]:
        return (self.fact,)

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        flag = facts.flag(self.fact)
        if flag is None:
            return ()
        strong, weak = self.weights if flag else self.weights[::-1]
        return (Observation(f"{self.fact} is {flag}", facts.cite(self.fact), strong, weak),)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.fact in facts:
            return ()
        return (Probe(self.tool, f"{self.fact} is not known", self.grade),)

    def advise(self, facts: Facts) -> Advice:
        return Advice()


@dataclass
class FakeBrain:
    """Follows a script, then stops."""

    script: list[ToolCall]
    name: str = "scripted"
    spent: Usage = Usage()
    views: list[View] = field(default_factory=list)

    def choose(self, view: View) -> ToolCall | Stop:
        self.views.append(view)
        return self.script.pop(0) if self.script else Stop("the script ends here")

    def usage(self) -> Usage:
        return self.spent


def no_plan(supported: Sequence[Judgement], facts: Facts) -> Plan:
    """A planner that proposes nothing."""
    return Plan()


def built_in(*tools: Tool) -> ToolSource:
    return ToolSource("fake", "built in", tools)


def plugin(*tools: Tool) -> ToolSource:
    return ToolSource("other", "somebody-elses-package", tools)


def look_into(
    *sources: ToolSource,
    causes: Sequence[FakeCause] = (),
    kind: str = "recording",
    planner: Planner = no_plan,
    **options: object,
) -> Investigation:
    """An investigation with the rules brain unless another is given."""
    options.setdefault("brain", RulesBrain())
    return investigate(FakeTarget(kind), sources, planner=planner, causes=causes, session="s1", **options)  # type: ignore[arg-type]
