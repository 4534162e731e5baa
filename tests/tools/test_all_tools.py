"""What holds for every built-in tool, over every recording at hand."""

from pathlib import Path

import pytest
from tool_fakes import FakeTarget, check, defaults

from ppagent.errors import NotRecorded, ToolError
from ppagent.plugins import BUILT_IN, Tool, ToolContext, discover
from ppagent.targets.open import open_target
from ppagent.targets.recording import Recording
from ppagent.targets.target import Artifact, Shared

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
RECORDINGS = sorted(path for path in INCIDENTS.glob("*") if path.is_dir()) if INCIDENTS.is_dir() else []
QUIET = {"source.flags"}
"""Tools that may have nothing to add to what others tell."""
TOOLS = [tool for source in discover() if source.origin == "built in" for tool in source.tools]


def test_every_built_in_source_has_tools_with_names_of_its_own() -> None:
    sources = [source for source in discover() if source.origin == "built in"]
    assert [source.name for source in sources] == list(BUILT_IN)
    assert all(source.tools and not source.error for source in sources)
    names = [tool.name for tool in TOOLS]
    assert len(names) == len(set(names))
    assert {
        "user.stated", "server.launch", "server.version", "server.model", "http.info", "http.loads", "http.metrics",
        "logs.startup", "logs.decode", "logs.prefill", "logs.trouble", "source.grep", "source.read", "source.facts",
        "gpu.samples", "gpu.processes", "gpu.topology", "host.facts", "host.processes", "host.environment",
        "host.packages", "host.kernel", "bench.results",
    } <= set(names)  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_in_one_paragraph_what_it_tells(tool: Tool) -> None:
    assert tool.summary.endswith(".")
    assert "\n" not in tool.summary
    assert tool.provides


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_was_not_recorded_is_an_answer_of_its_own(tool: Tool) -> None:
    arguments = defaults(tool) or tool.arguments.model_construct(
        pattern="x", path="sglang/x.py", under="sglang", limit=1, argv=["uptime"]
    )
    with pytest.raises(NotRecorded):
        tool.run(ToolContext(FakeTarget()), arguments)


@pytest.mark.parametrize("junk", ["", "\n \n", "\x00\x01\x02 junk", "{", "[1, 2", "a: [b", "null", '"text"', "7"])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_artifact_that_is_empty_or_junk_never_crashes_a_tool(tool: Tool, junk: str) -> None:
    texts: dict[Artifact, str | ToolError] = dict.fromkeys(Artifact, junk)
    target = FakeTarget({"box": texts}, dict.fromkeys(Shared, junk), [("metrics/1.prom", junk)], {"sglang/x.py": junk})
    arguments = defaults(tool)
    if arguments is None:
        return
    try:
        findings = tool.run(ToolContext(target), arguments)
    except ToolError:
        return
    for finding in findings:
        check(tool, finding, target)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_every_excerpt_is_a_piece_of_its_artifact_in_every_recording(path: Path) -> None:
    target = open_target(str(path))
    context = ToolContext(target)
    answered = 0
    for tool in TOOLS:
        arguments = defaults(tool)
        if arguments is None:
            continue
        try:
            findings = tool.run(context, arguments)
        except NotRecorded:
            continue
        assert findings or tool.name in QUIET, tool.name
        answered += bool(findings)
        for finding in findings:
            check(tool, finding, target)
    assert answered >= 4


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_no_tool_opens_the_answer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real_open, real_bytes = Path.open, Path.read_bytes
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: (opened.append(self.name), real_open(self, *a, **k))[1])
    monkeypatch.setattr(Path, "read_bytes", lambda self: (opened.append(self.name), real_bytes(self))[1])
    context = ToolContext(Recording(path))
    for tool in TOOLS:
        arguments = defaults(tool)
        if arguments is not None:
            try:
                tool.run(context, arguments)
            except NotRecorded:
                continue
    assert "incident.yaml" in opened
    assert "answer.yaml" not in opened
