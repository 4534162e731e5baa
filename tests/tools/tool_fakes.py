"""A target in memory, and what the tests of tools ask of every finding."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import Finding
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import EXCERPT_LIMIT, Ledger
from ppagent.evidence.quoting import quotable
from ppagent.evidence.vocabulary import known
from ppagent.plugins import Tool, ToolContext
from ppagent.targets.target import Artifact, Shared, SourceHit, Target
from ppagent.targets.traced import Traced


class FakeSource:
    """A source tree in memory."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def read(self, path: str) -> str:
        if path not in self.texts:
            raise NotRecorded(path)
        return self.texts[path]

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]:
        lines = ((p, n, line) for p, text in self.texts.items() for n, line in enumerate(text.splitlines(), 1))
        return tuple(SourceHit(p, n, line.strip()) for p, n, line in lines if pattern in line)[:limit]


class FakeTarget:
    """Artifacts by host; `shared` by name; `texts` may hold a ToolError to be raised."""

    kind = "recording"
    name = "fake"

    def __init__(
        self,
        texts: Mapping[str, Mapping[Artifact, str | ToolError]] | None = None,
        shared: Mapping[Shared, str] | None = None,
        scrapes: Sequence[tuple[str, str]] = (),
        source: Mapping[str, str] | None = None,
    ) -> None:
        self.texts = texts if texts is not None else {"box": {}}
        self._shared = shared or {}
        self._scrapes = tuple(scrapes)
        self._source = source
        self.hosts = tuple(self.texts)
        self.asked: list[str] = []

    def text(self, host: str, artifact: Artifact) -> str:
        self.asked.append(f"{host}/{artifact.value}")
        value = self.texts[host].get(artifact)
        if isinstance(value, ToolError):
            raise value
        if value is None:
            raise NotRecorded(f"{artifact.value} was not recorded")
        return value

    def log(self, host: str) -> Iterator[bytes]:
        return iter(self.text(host, Artifact.SERVER_LOG).encode().splitlines(keepends=True))

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        if not self._scrapes:
            raise NotRecorded("metrics were not recorded")
        return self._scrapes

    def source(self, host: str) -> FakeSource:
        if self._source is None:
            raise NotRecorded("the source was not recorded")
        return FakeSource(self._source)

    def shared(self, artifact: Shared) -> str:
        if artifact not in self._shared:
            raise NotRecorded(f"{artifact.value} was not recorded")
        return self._shared[artifact]


def box(**texts: str) -> FakeTarget:
    """A target of one host: `box(gpus="...")` by artifact name in lower case."""
    return FakeTarget({"box": {Artifact[name.upper()]: text for name, text in texts.items()}})


def run(tool: Tool, target: Target, **arguments: object) -> tuple[Finding, ...]:
    """The tool's findings, each held to what every finding has to be."""
    found = tuple(tool.run(ToolContext(target), tool.arguments(**arguments)))
    for finding in found:
        check(tool, finding, target)
    return found


def facts_of(findings: Sequence[Finding]) -> Facts:
    ledger = Ledger()
    for finding in findings:
        ledger.add("test", finding)
    return ledger.facts()


def check(tool: Tool, finding: Finding, target: Target) -> None:
    """Facts are plain JSON under known names that the tool announces; the excerpt stands in the artifact as it is."""
    json.dumps(dict(finding.facts), allow_nan=False)
    for name in finding.facts:
        assert known(name), f"{tool.name} writes {name}, which is not in the vocabulary"
        announced = name.startswith(tool.provides) or name == "tool.unread"
        assert announced or name.startswith("engine."), f"{tool.name} does not announce {name}"
    assert finding.authority in (1, 2, 3)
    if finding.excerpt:
        text = artifact_text(target, finding)
        assert finding.excerpt in text, f"{tool.name}: {finding.excerpt!r} is not in {finding.artifact}"
        shown = quotable(finding.excerpt, EXCERPT_LIMIT)
        assert shown in text or "\x1b" in finding.excerpt
    else:
        assert (
            set(finding.facts) <= {"tool.unread"}
            or not finding.facts
            or finding.artifact in ("source", "", "incident.yaml")
        )


def artifact_text(target: Target, finding: Finding) -> str:
    """The text of what a finding names as its artifact."""
    shared = {item.value: item for item in Shared}
    if finding.artifact in shared:
        return target.shared(shared[finding.artifact])
    if finding.artifact.startswith("metrics/"):
        return dict(target.scrapes(finding.host))[finding.artifact]
    if finding.artifact.startswith("source/"):
        return target.source(finding.host).read(finding.artifact.removeprefix("source/"))
    if finding.artifact.startswith("traces/") and isinstance(target, Traced):
        with target.open_trace(finding.host, finding.artifact) as packed:
            return gzip.decompress(packed.read()).decode()
    if finding.artifact == "question":
        return finding.excerpt
    return target.text(finding.host, Artifact(finding.artifact))


def defaults(tool: Tool) -> BaseModel | None:
    """The tool's arguments where it can be asked without any."""
    required = any(field.is_required() for field in tool.arguments.model_fields.values())
    return None if required else tool.arguments()
