"""Every host's log, read once for all the tools that ask, and put together over hosts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.ledger import EXCERPT_LIMIT
from ppagent.plugins import ToolContext
from ppagent.sglang.logs.prefix import Ranks
from ppagent.sglang.logs.stream import read_log
from ppagent.sglang.logs.summary import DecodeStats, LogSummary, PrefillStats, Stretch
from ppagent.targets.files import all_nul
from ppagent.targets.remote.log_stream import REMARK, is_remark
from ppagent.targets.target import Artifact
from ppagent_tools.log_tap import LaunchTap, LogTap

_CACHE = "ppagent_tools.logs"
_FEW_LINES = 5
_SHORTEST_HOLE = bytes(8)
_HOLE = re.compile(rb"\0{8,}")
"""What a file system leaves of a log that was being written when the power went: NULs instead of lines."""


@dataclass(frozen=True)
class HostLog:
    """One host's log. `stretch` is the launch to measure: the last one that decoded for a while."""

    host: str
    summary: LogSummary
    stretch: Stretch
    tap: LaunchTap
    first_line: str = ""
    """The first line there is, for a log that has nothing else to quote."""
    remarks: tuple[str, ...] = ()
    """Lines that a live target put in place of what it left out."""

    @property
    def first_stage(self) -> int:
        """The lowest pipeline stage that wrote batch lines here; 0 where lines carry no stage."""
        return min((seen.ranks.pp or 0 for seen in self.stretch.last_seen), default=0)

    def finding(self, facts: Mapping[str, FactValue], excerpt: str = "", at: datetime | None = None) -> Finding:
        when = at.isoformat() if at is not None else ""
        return Finding(Artifact.SERVER_LOG.value, facts, excerpt.rstrip("\r\n"), self.host, when, authority=2)


@dataclass(frozen=True)
class Logs:
    """All logs of the target, the one with the lowest stage first."""

    hosts: tuple[HostLog, ...]
    unread: tuple[Finding, ...] = ()

    def __iter__(self) -> Iterator[HostLog]:
        return iter(self.hosts)

    @property
    def first(self) -> HostLog:
        return self.hosts[0]

    def decode(self) -> list[tuple[HostLog, DecodeStats]]:
        """Decode statistics of every DP rank once, from the host with its lowest stage."""
        found: dict[int | None, tuple[HostLog, DecodeStats]] = {}
        for log in self.hosts:
            for stats in log.stretch.decode:
                held = found.get(stats.ranks.dp)
                if held is None or (stats.ranks.pp or 0) < (held[1].ranks.pp or 0):
                    found[stats.ranks.dp] = (log, stats)
        return [found[dp] for dp in sorted(found, key=lambda dp: dp or 0)]

    def prefill(self) -> list[tuple[HostLog, PrefillStats]]:
        """Prefill statistics, as `decode` gives them."""
        found: dict[int | None, tuple[HostLog, PrefillStats]] = {}
        for log in self.hosts:
            for stats in log.stretch.prefill:
                held = found.get(stats.ranks.dp)
                if held is None or (stats.ranks.pp or 0) < (held[1].ranks.pp or 0):
                    found[stats.ranks.dp] = (log, stats)
        return [found[dp] for dp in sorted(found, key=lambda dp: dp or 0)]


def read_logs(context: ToolContext) -> Logs:
    """The logs of all hosts, read on the first call of an investigation. Raises NotRecorded where there is none."""
    held = context.cache.get(_CACHE)
    if not isinstance(held, Logs):
        held = context.cache[_CACHE] = _read_all(context)
    return held


def stage_label(ranks: Ranks) -> str:
    """`PP0`, with the DP rank in front where there are several."""
    stage = f"PP{ranks.pp or 0}"
    return f"DP{ranks.dp} {stage}" if ranks.dp else stage


def _read_all(context: ToolContext) -> Logs:
    read: list[HostLog] = []
    failed: list[tuple[str, ToolError]] = []
    for host in context.target.hosts:
        try:
            read.append(_read(context, host))
        except ToolError as error:
            failed.append((host, error))
    broken = [(host, error) for host, error in failed if not isinstance(error, NotRecorded)]
    if not read:
        raise (broken or failed)[0][1] if failed else NotRecorded("the target has no host")
    unread = [Finding("server.log", {"tool.unread": [str(reason)]}, host=host) for host, reason in broken]
    unread += [
        Finding("server.log", {"tool.unread": [f"server.log of {log.host}: {_bare(remark)}"]}, _quote(remark), log.host)
        for log in read
        for remark in log.remarks
    ]
    return Logs(tuple(sorted(read, key=lambda log: log.first_stage)), tuple(unread))


def _read(context: ToolContext, host: str) -> HostLog:
    tap = LogTap()
    remarks: list[str] = []
    summary = read_log(tap.lines(_without_holes(_without_remarks(context.target.log(host), remarks), remarks)))
    first_line = tap.first_line.decode("utf-8", errors="replace")[:EXCERPT_LIMIT]
    if not first_line:
        raise ToolError(f"server.log of {host}: {_bare(remarks[-1]) if remarks else 'the file is empty'}")
    stretch = _measured(summary)
    at = summary.stretches.index(stretch)
    known = len(tap.launches) == len(summary.stretches)
    launch = tap.launches[at] if known else tap.launches[-1]
    return HostLog(host, summary, stretch, launch, first_line, tuple(remarks))


def _without_remarks(log: Iterator[bytes], remarks: list[str]) -> Iterator[bytes]:
    """The server's own lines; those about what was left out go to `remarks`."""
    for line in log:
        if is_remark(line):
            remarks.append(line.decode("utf-8", errors="replace").strip())
        else:
            yield line


def _without_holes(log: Iterator[bytes], remarks: list[str]) -> Iterator[bytes]:
    """The lines without runs of NUL bytes; that there were some goes to `remarks`."""
    size = 0
    for line in log:
        if _SHORTEST_HOLE not in line:
            yield line
            continue
        parts = [] if all_nul(line) else [part for part in _HOLE.split(line) if part.strip()]
        size += len(line) - sum(len(part) for part in parts)
        yield from parts
    if size:
        remarks.append(f"{_size(size)} of NUL bytes were passed over, as a power cut or a full disk leaves them")


def _size(size: int) -> str:
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >> bits:
            return f"{size / (1 << bits):.1f} {unit}"
    return f"{size} bytes"


def _quote(remark: str) -> str:
    """The remark, where it is a line of the fetched log."""
    return remark if remark.startswith(REMARK.decode()) else ""


def _bare(remark: str) -> str:
    return remark.removeprefix(REMARK.decode())


def _measured(summary: LogSummary) -> Stretch:
    """The last launch, unless it never got to decode and an earlier one did."""
    current = summary.current
    decoded = sum(stats.lines for stats in current.decode)
    return current if decoded >= _FEW_LINES else summary.busiest if summary.busiest.decode else current
