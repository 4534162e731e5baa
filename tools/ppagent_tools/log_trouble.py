"""Trouble lines and silences: each kind with a line that says so."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.sglang.logs.clock import time_of
from ppagent.sglang.logs.summary import RankSeen, Stretch, Tally
from ppagent_tools.log_error import error_findings
from ppagent_tools.log_reading import HostLog, Logs, stage_label

Facts = dict[str, FactValue]
MOST_SAID = 20
SILENT_S = 30.0
GOES_ON_S = 60.0
_TAGS = ("DP", "PP", "TP", "EP")
_HANGS = ("watchdog_timeout", "soft_watchdog", "nccl_timeout")


def trouble_findings(logs: Logs) -> list[Finding]:
    """Every kind of trouble on every host, then what was read and who fell silent."""
    findings = []
    for log in logs:
        for kind, tally in _troubles(log).items():
            findings.append(_finding(log, kind, tally))
        findings += error_findings(log, _troubles(log))
    return [*findings, *_account(logs), *logs.unread]


def _troubles(log: HostLog) -> Mapping[str, Tally]:
    """Of the launch that is measured, and of the last one where that is another."""
    current = log.summary.current
    return log.stretch.troubles if current is log.stretch else {**log.stretch.troubles, **current.troubles}


def _finding(log: HostLog, kind: str, tally: Tally) -> Finding:
    events = (*tally.first, *tally.last)
    facts: Facts = {f"trouble.{kind}": tally.once or tally.lines}
    for name in dict.fromkeys(name for event in events for name in event.fields):
        said: list[FactValue] = list(dict.fromkeys(event.fields[name] for event in events if name in event.fields))
        facts[f"trouble.{kind}.{name}"] = said[0] if len(said) == 1 else said[:MOST_SAID]
    if tally.kind.counted:
        facts[f"trouble.{kind}.total"] = tally.summed
    ranks = sorted(pp for pp in tally.by_pp if pp is not None)
    if ranks:
        facts[f"trouble.{kind}.ranks"] = [f"PP{pp}" for pp in ranks]
    first = tally.first[0]
    return log.finding(facts, first.raw, first.at)


def _account(logs: Logs) -> list[Finding]:
    """What was read of each log, and what the ends of the ranks' lines say, over all hosts."""
    facts: Facts = {"log.lines": sum(log.summary.lines for log in logs)}
    skipped: dict[str, FactValue] = {}
    for log in logs:
        skipped.update(log.summary.skipped)
    if skipped:
        facts["log.unread"] = skipped
    seen = {stage_label(each.ranks): each for log in logs for each in log.stretch.last_seen if not each.ranks.tp}
    timed = {rank: each for rank, each in seen.items() if each.at is not None}
    if timed:
        facts["log.last_seen"] = {rank: _text(each.at) for rank, each in timed.items()}
    tags = _tags(logs)
    if tags is not None:
        facts["log.tags"] = tags
    silent = _silent(timed)
    if silent:
        facts["log.silent_rank"] = silent
    first = logs.first
    prefilled, decoded = bool(first.stretch.prefill), bool(first.stretch.decode)
    if prefilled:
        facts["log.ended_without_decode"] = not decoded
    ended = _ended_running(first)
    if ended is not None:
        facts["log.ended_running"] = ended
    return [first.finding(facts, _last_line(first.stretch) or first.first_line, first.stretch.last_at)]


def _tags(logs: Logs) -> list[FactValue] | None:
    """What the schedulers' lines are tagged with, over all hosts; None where no line of theirs has SGLang's prefix."""
    prefixed = [each.ranks for log in logs for each in log.stretch.last_seen if each.at is not None]
    if not prefixed:
        return None
    return [tag for tag in _TAGS if any(getattr(ranks, tag.lower()) is not None for ranks in prefixed)]


def _silent(seen: Mapping[str, RankSeen]) -> str:
    """The rank that was last heard well before every other one; empty where there is none."""
    times = sorted((each.at, rank) for rank, each in seen.items() if each.at is not None)
    if len(times) < 2:
        return ""
    (first, rank), (second, _) = times[0], times[1]
    return rank if (second - first).total_seconds() >= SILENT_S else ""


def _ended_running(log: HostLog) -> bool | None:
    """Whether batch lines ended in the middle of work: a watchdog fired after them, or the server spoke on of other
    things. None where nothing was decoded."""
    stretch = log.stretch
    times = [stats.last_at for stats in stretch.decode if stats.last_at is not None]
    busy = [stats for stats in stretch.decode if stats.recent_running and stats.recent_running[-1] > 0]
    if not times:
        return None
    ended = max([*times, *(each.at for each in stretch.last_seen if each.at is not None)])
    hung = [t.first[0].at for kind in _HANGS if (t := stretch.troubles.get(kind)) is not None]
    if any(at is None or at >= ended for at in hung):
        return bool(busy)
    remark = time_of(log.tap.last_remark)
    if not busy or remark is None or _given_up(log, ended):
        return False
    return remark - ended >= timedelta(seconds=GOES_ON_S)


def _given_up(log: HostLog, ended: datetime) -> bool:
    """Whether what ran at the last batch was given up by its clients at about that time, or the server said afterwards
    that it holds nothing. Clients that give up much later do so because nothing comes."""
    gone, idle = time_of(log.tap.last_gone), time_of(log.tap.last_idle)
    soon = gone is not None and timedelta() <= gone - ended < timedelta(seconds=SILENT_S)
    return soon or (idle is not None and idle >= ended)


def _last_line(stretch: Stretch) -> str:
    return next((stats.examples["last"] for stats in stretch.decode if "last" in stats.examples), "")


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
