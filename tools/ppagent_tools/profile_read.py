"""What `profile.read` does."""

import re
from collections.abc import Sequence

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import ToolContext
from ppagent.profile.choice import File, Shape, choose
from ppagent.profile.rank import RankSummary
from ppagent.profile.reader import read_rank
from ppagent.sglang.server_info import parse_server_info, whole
from ppagent.targets.target import Artifact, Target
from ppagent.targets.traced import Traced
from ppagent_tools.profile_facts import finding_of

SEEN = 2
"""Authority of what a trace shows: as much as the server's log."""
MOST_TRACES = 256

_SIZES = {
    "stages": re.compile(r"--(?:pp-size|pipeline-parallel-size|pp)[ =](\d{1,4})\b"),
    "tp": re.compile(r"--(?:tp-size|tensor-parallel-size|tp)[ =](\d{1,4})\b"),
}


def recorded(context: ToolContext) -> Sequence[Finding]:
    """The latest profile's traces as one finding, broken ones as another. Raises NotRecorded where there is none, and
    ToolError where none can be read."""
    target = context.target
    if not isinstance(target, Traced):
        raise NotRecorded("no profiler trace is there; profile.take takes some of a running server")
    chosen = choose(_listed(target, target.hosts))
    if not chosen.files:
        raise ToolError(f"no trace of a single rank is there: {'; '.join(chosen.remarks)}")
    read: list[tuple[File, RankSummary]] = []
    broken: list[str] = []
    for file in chosen.files[:MOST_TRACES]:
        try:
            with target.open_trace(file.host, file.name) as packed:
                read.append((file, read_rank(packed, file.name)))
        except ToolError as error:
            broken.append(str(error))
    if not read:
        raise ToolError("; ".join(broken[:3]))
    if len(chosen.files) > MOST_TRACES:
        broken.append(f"{len(chosen.files) - MOST_TRACES} further traces were not read")
    findings = [finding_of(read, chosen, shape_of_server(context.target), authority=SEEN)]
    return [*findings, Finding("", {"tool.unread": list(broken)})] if broken else findings


def shape_of_server(target: Target) -> Shape:
    """Parallel sizes, as the running server has them, else as the launch asked for them."""
    for host in target.hosts:
        try:
            info = parse_server_info(target.text(host, Artifact.SERVER_INFO))
        except ToolError:  # said by the tool that is asked for it
            continue
        stages = whole(info.effective("pp_size"))
        if stages:
            return Shape(stages, whole(info.effective("tp_size")))
    for host in target.hosts:
        try:
            text = target.text(host, Artifact.LAUNCH)
        except ToolError:
            continue
        found = {name: match for name, pattern in _SIZES.items() if (match := pattern.search(text))}
        return Shape(**{name: int(match[1]) for name, match in found.items()})
    return Shape()


def _listed(target: Traced, hosts: Sequence[str]) -> list[tuple[str, str]]:
    """(host, name) of every trace. Raises what the last host raised where none has any."""
    found: list[tuple[str, str]] = []
    missing = NotRecorded("the target has no host")
    for host in hosts:
        try:
            found += [(host, name) for name in target.traces(host)]
        except NotRecorded as error:
            missing = error
    if not found:
        raise missing
    return found
