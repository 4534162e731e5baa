"""The source of the installed SGLang: what its scheduler does with a pipeline, and any line or passage of it."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, Field

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.sglang.flags.source import InOneGo
from ppagent.sglang.flags.source import SourceTree as Package
from ppagent.sglang.scheduler_facts.facts import SchedulerFacts, SourceFact
from ppagent.sglang.scheduler_facts.read import read_scheduler_facts
from ppagent.targets.target import SourceTree
from ppagent_tools.installed import ServerVersion

MOST_TEXT = 4000
_READ_FOR_FACTS = (
    "sglang/srt/managers/scheduler",
    "sglang/srt/distributed/",
    "sglang/srt/server_args",
    "sglang/srt/arg_groups/",
    "sglang/srt/model_executor/",
    "sglang/version",
    "sglang/_version",
)

T = TypeVar("T")


class GrepArguments(BaseModel, extra="forbid"):
    """What to search for, and where."""

    pattern: str = Field(description="a Python regular expression, 200 characters at most")
    under: str = Field(default="sglang", description="a file or folder of the package, for example sglang/srt/managers")
    limit: int = Field(default=50, ge=1, le=1000, description="most hits to return")


class ReadArguments(BaseModel, extra="forbid"):
    """Which lines of which file."""

    path: str = Field(description="a file of the package, for example sglang/srt/managers/scheduler.py")
    first_line: int = Field(default=1, ge=1)
    lines: int = Field(default=60, ge=1, le=400)


class SourceFacts:
    name = "source.facts"
    summary = (
        "What this version's scheduler does with a pipeline: how many slots there are, the default slot limit, whether "
        "an asynchronous depth exists, how layers are split, what can be set live. Read in the source where it is at "
        "hand, else taken from a table by version."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = (
        "source.slots", "source.default_slot_limit", "source.has_async_depth", "source.layer_split",
        "source.live_keys", "source.live_answer_is_true", "source.slot_limit_flag", "source.origin",
    )  # fmt: skip
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        version = _version(context)
        host, tree = source_of(context)
        if tree is None and version is None:
            raise NotRecorded("neither the installed source nor SGLang's version was recorded")
        stated = None if version is None else str(version.facts["engine.version"])
        facts = read_scheduler_facts(_package(tree), stated)
        return [_fact(tree, host, version, name, fact) for name, fact in _named(facts).items()]


class Grep:
    name = "source.grep"
    summary = "Lines of the installed sglang package that match a regular expression, with path and line number."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("source.hits",)
    arguments: type[BaseModel] = GrepArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = GrepArguments.model_validate(arguments.model_dump())
        host, tree = source_of(context)
        if tree is None:
            raise NotRecorded("the installed source was not recorded")
        hits = tree.grep(asked.pattern, asked.under, asked.limit)
        if not hits:
            return [Finding("source", {"source.hits": []}, host=host)]
        rows: list[FactValue] = [{"path": hit.path, "line": hit.line, "text": hit.text} for hit in hits]
        return [Finding(f"source/{hits[0].path}", {"source.hits": rows}, hits[0].text, host)]


class Read:
    name = "source.read"
    summary = "A passage of a file of the installed sglang package, from a line on."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("source.text", "source.path", "source.first_line")
    arguments: type[BaseModel] = ReadArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = ReadArguments.model_validate(arguments.model_dump())
        host, tree = source_of(context)
        if tree is None:
            raise NotRecorded("the installed source was not recorded")
        lines = tree.read(asked.path).splitlines(keepends=True)
        if asked.first_line > len(lines):
            raise ToolError(f"{asked.path} has {len(lines)} lines")
        text = "".join(lines[asked.first_line - 1 : asked.first_line - 1 + asked.lines])[:MOST_TEXT]
        facts: dict[str, FactValue] = {
            "source.path": asked.path,
            "source.first_line": asked.first_line,
            "source.text": text,
        }
        return [Finding(f"source/{asked.path}", facts, text[:400].strip(), host)]


def tools() -> tuple[Tool, ...]:
    return (SourceFacts(), Grep(), Read())


def source_of(context: ToolContext) -> tuple[str, SourceTree | None]:
    """The first host's source there is, and its host."""
    for host in context.target.hosts:
        try:
            return host, context.target.source(host)
        except ToolError:  # a table by version answers in its place, and what needs the tree says that it is not there
            continue
    return "", None


def _version(context: ToolContext) -> Finding | None:
    """The statement of the installed version that counts."""
    try:
        findings = ServerVersion().run(context, NoArguments())
    except NotRecorded:
        return None
    return max((f for f in findings if "engine.version" in f.facts), key=lambda f: f.authority, default=None)


def _package(tree: SourceTree | None) -> Package | None:
    """The package to be read; one elsewhere is asked for the files of the scheduler in one go."""
    if tree is None:
        return None
    if isinstance(tree, InOneGo):
        tree.fetch([path for path in tree.files() if path.startswith(_READ_FOR_FACTS) and path.endswith(".py")])
    return Package.over(tree)


def _named(facts: SchedulerFacts) -> dict[str, SourceFact[FactValue]]:
    """The scheduler's facts by name."""
    live = facts.live_keys
    flag = facts.slot_limit_key
    return {
        "source.slots": _plain(facts.slots, facts.slots.value),
        "source.default_slot_limit": _plain(facts.default_slot_limit, facts.default_slot_limit.value),
        "source.has_async_depth": _plain(facts.has_async_depth, facts.has_async_depth.value),
        "source.layer_split": _plain(facts.layer_split, facts.layer_split.value),
        "source.live_keys": _plain(live, list(live.value)),
        "source.live_answer_is_true": _plain(facts.live_answer_is_true, facts.live_answer_is_true.value),
        "source.slot_limit_flag": _plain(flag, facts.slot_limit_flag),
    }


def _plain(fact: SourceFact[T], value: FactValue) -> SourceFact[FactValue]:
    return SourceFact(value, fact.file, fact.function, fact.line, fact.origin, fact.note)


def _fact(
    tree: SourceTree | None, host: str, version: Finding | None, name: str, fact: SourceFact[FactValue]
) -> Finding:
    """A fact with the line that shows it, where it was read in a tree; else it rests on the version."""
    place = f"sglang/{fact.file}"
    facts: dict[str, FactValue] = {name: fact.value, "source.origin": fact.origin, f"{name}_at": fact.source}
    if fact.note:
        facts[f"{name}_note"] = fact.note
    if tree is None or fact.origin != "tree" or fact.line is None:
        known = version or Finding("", {}, host=host)
        return Finding(known.artifact, facts, known.excerpt, known.host)
    lines = tree.read(place).splitlines()
    line = lines[fact.line - 1].strip() if fact.line <= len(lines) else ""
    return Finding(f"source/{place}", facts, line, host, authority=2)
