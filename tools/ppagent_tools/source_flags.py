"""Which launch flags the installed SGLang takes, where that is more than its version number tells."""

from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.sglang.flags.installed import InstalledFlags, installed_flags
from ppagent.sglang.flags.source import SERVER_ARGS
from ppagent.sglang.flags.told import as_fact
from ppagent_tools.installed import versions
from ppagent_tools.source import source_of


class SourceFlags:
    name = "source.flags"
    summary = (
        "The launch flags that the installed source itself declares, as far as they differ from the published "
        "version's: a patched or unreleased SGLang takes other flags than its version number tells. Says nothing where "
        "the version number tells all."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("source.flags",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        host = source_of(context)[0] or next(iter(context.target.hosts), "")
        version = _version(context, host)
        found = flags_of(context, host)
        if found is None:
            raise NotRecorded("neither the installed source nor SGLang's version was recorded")
        if not found.from_source and not found.says:
            return ()
        facts: dict[str, FactValue] = {"source.flags": as_fact(found)}
        if not found.from_source and version is not None:
            return [Finding(version.artifact, facts, version.excerpt, host)]
        return [Finding(f"source/sglang/{SERVER_ARGS}", facts, "class ServerArgs", host, authority=2)]


def tools() -> tuple[Tool, ...]:
    return (SourceFlags(),)


def flags_of(context: ToolContext, host: str) -> InstalledFlags | None:
    """A host's launch flags, read once an investigation; None where neither its source nor its version is known.

    Hosts of one version share the first source that was read: of live hosts no more is fetched, and a recording holds
    no more.
    """
    key = f"flags of {host}"
    if key not in context.cache:
        version = _version(context, host)
        context.cache[key] = _read(context, host, str(version.facts["engine.version"]) if version is not None else "")
    found: InstalledFlags | None = context.cache[key]
    return found


def _read(context: ToolContext, host: str, version: str) -> InstalledFlags | None:
    of_version = f"flags of version {version}"
    shared: InstalledFlags | None = context.cache.get(of_version)
    if shared is not None and context.target.kind != "recording":
        return shared
    try:
        found = installed_flags(lambda: context.target.source(host), version)
    except UserError:
        return shared
    if found.from_source:
        context.cache.setdefault(of_version, found)
    return found if found.from_source or shared is None else shared


def _version(context: ToolContext, host: str) -> Finding | None:
    """What the host says of its version, by the witness that counts."""
    try:
        return versions(context, host)[-1]
    except ToolError:
        return None
