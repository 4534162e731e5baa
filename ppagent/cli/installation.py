"""What `flags`, `check` and `explain` know of a target's installation: read by the tools that a diagnosis asks."""

import sys
from collections.abc import Mapping

from ppagent.cli.common import note
from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.evidence.evidence import Finding
from ppagent.sglang.flags.installed import InstalledFlags, installed_flags
from ppagent.sglang.versions import parse_version
from ppagent.targets.live_host import Windows
from ppagent.targets.open import open_target
from ppagent.targets.target import Target

BRIEF = Windows(cpu_s=0.1, gpu_s=0.3, scrapes=1, scrape_gap_s=0.0)
"""Nothing here is measured: a look is enough."""
_WITNESSES = ("server.version", "user.stated")
"""Tools that tell the version: of the installation itself, and of whoever asks."""


def open_briefly(text: str, port: int | None = None) -> Target:
    """Whatever a diagnosis takes as a target. Raises UserError where there is none."""
    return open_target(text, sys.stdin, port=port, windows=BRIEF)


def versions_of(target: Target) -> dict[str, str]:
    """What each host says it runs, by the best witness; what was only stated counts for every host that says nothing.
    Hosts of which nothing is known are left out. Raises ToolError where an artifact cannot be read."""
    found: dict[str, Finding] = {}
    for finding in _told(target):
        host = finding.host
        if host not in found or finding.authority >= found[host].authority:
            found[host] = finding
    stated = found.get("")
    told = {host: found.get(host, stated) for host in target.hosts}
    return {host: str(finding.facts["engine.version"]) for host, finding in told.items() if finding is not None}


def flags_by_host(target: Target, versions: Mapping[str, str]) -> dict[str, InstalledFlags]:
    """The launch flags of each host's installation; hosts that tell neither source nor version are left out. A host
    whose source is not at hand has the flags of one with the same version whose source is.

    Raises UserError for a version that no table has, where the source does not help either.
    """
    read = {host: _flags_of(target, host, versions.get(host, "")) for host in target.hosts}
    found = {host: flags for host, flags in read.items() if flags is not None}
    sources = {versions.get(host, ""): flags for host, flags in found.items() if flags.from_source}
    return {
        host: flags if flags.from_source else sources.get(versions.get(host, ""), flags)
        for host, flags in found.items()
    }


def _flags_of(target: Target, host: str, version: str) -> InstalledFlags | None:
    try:
        return installed_flags(lambda: target.source(host), version)
    except UserError:
        if parse_version(version) is not None:
            raise
        return None


def one_for_all(found: Mapping[str, InstalledFlags]) -> tuple[InstalledFlags, tuple[str, ...]]:
    """The flags that speak for a deployment, and a remark on hosts that depart from them.

    Raises UserError where the hosts run different versions.
    """
    versions = sorted({flags.version for flags in found.values()})
    if len(versions) > 1:
        raise UserError(f"The hosts run different versions: {', '.join(versions)}.", "Choose with --version X.")
    best = next((flags for flags in found.values() if flags.from_source), next(iter(found.values())))
    others = [host for host, flags in found.items() if flags.from_source and flags.differences != best.differences]
    remark = f"The source of {', '.join(others)} declares other flags than the first host's." if others else ""
    return best, (remark,) if remark else ()


def source_of_flags(flags: InstalledFlags) -> str:
    """Where the flags were read, as a clause."""
    if flags.from_source:
        return "read in the installed source"
    release = flags.differences.release
    return "by the table of published versions" + (f", as {release} has them" if release != flags.version else "")


def _told(target: Target) -> list[Finding]:
    from ppagent.plugins import ToolContext, discover

    context = ToolContext(target)
    tools = {tool.name: tool for source in discover() for tool in source.tools}
    found: list[Finding] = []
    for name in _WITNESSES:
        try:
            found += tools[name].run(context, tools[name].arguments())
        except NotRecorded:
            continue
        except ToolError as error:  # the source may still tell
            note(str(error))
    told = [finding for finding in found if finding.facts.get("engine.version")]
    return [finding if finding.facts.get("engine.source") != "stated" else _of_all(finding) for finding in told]


def _of_all(finding: Finding) -> Finding:
    return Finding(finding.artifact, finding.facts, authority=finding.authority)
