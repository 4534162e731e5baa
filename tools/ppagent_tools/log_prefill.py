"""Prefill lines as facts, DP ranks added up."""

from collections.abc import Sequence

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.sglang.logs.summary import PrefillStats
from ppagent_tools.log_reading import Logs
from ppagent_tools.reading import tidy

Facts = dict[str, FactValue]


def prefill_findings(logs: Logs) -> list[Finding]:
    """What the prefill lines amount to; zero lines are a finding too."""
    found = logs.prefill()
    if not found:
        return [logs.first.finding({"prefill.lines": 0}, logs.first.tap.line("ready") or logs.first.first_line)]
    log, every = found[0][0], [stats for _, stats in found]
    decoded = sum(stats.lines for _, stats in logs.decode())
    longest = max(every, key=lambda stats: stats.longest_run)
    findings = [log.finding(_tokens(every), _example(every, "first"))]
    stalls: Facts = {"prefill.longest_run": longest.longest_run}
    lines = sum(stats.lines for stats in every)
    if lines + decoded:
        stalls["prefill.share_of_lines"] = round(lines / (lines + decoded), 4)
    pending = [stats.pending_tokens for stats in every if stats.pending_tokens is not None]
    if pending:
        stalls["prefill.pending_tokens.max"] = tidy(max(spread.high for spread in pending))
        stalls["prefill.pending_tokens.mean"] = round(max(spread.mean for spread in pending), 1)
    findings.append(log.finding(stalls, longest.examples.get("longest_run", _example(every, "first"))))
    if len(every) > 1:
        rows: Facts = {f"DP{stats.ranks.dp or 0}": _dp_row(stats) for stats in every}
        findings.append(log.finding({"prefill.by_dp": rows}, _example(every, "first")))
    return findings + list(logs.unread)


def _tokens(every: Sequence[PrefillStats]) -> Facts:
    lines = sum(stats.lines for stats in every)
    new, cached = sum(stats.new_tokens for stats in every), sum(stats.cached_tokens for stats in every)
    facts: Facts = {
        "prefill.lines": lines,
        "prefill.new_tokens": new,
        "prefill.cached_tokens": cached,
        "prefill.new_seq.mean": round(sum(stats.new_seqs for stats in every) / lines, 3),
        "prefill.tokens_per_line.mean": round(new / lines, 1),
    }
    seqs = [stats.seqs_per_line for stats in every if stats.seqs_per_line is not None]
    if seqs:
        facts["prefill.new_seq.max"] = tidy(max(spread.high for spread in seqs))
    sizes = [stats.tokens_per_line for stats in every if stats.tokens_per_line is not None]
    if sizes:
        facts["prefill.tokens_per_line.p50"] = tidy(max(spread.p50 for spread in sizes))
        facts["prefill.tokens_per_line.max"] = tidy(max(spread.high for spread in sizes))
    if new + cached:
        facts["prefill.cached_share"] = round(cached / (new + cached), 4)
    speeds = [stats.input_tokens_per_s for stats in every if stats.input_tokens_per_s is not None]
    if speeds:
        facts["prefill.input_throughput.mean"] = round(sum(spread.mean for spread in speeds), 2)
        facts["prefill.input_throughput.p50"] = round(sum(spread.p50 for spread in speeds), 2)
    return facts


def _example(every: Sequence[PrefillStats], name: str) -> str:
    return next((stats.examples[name] for stats in every if name in stats.examples), "")


def _dp_row(stats: PrefillStats) -> FactValue:
    row: Facts = {"lines": stats.lines, "new_tokens": stats.new_tokens}
    if stats.cached_share is not None:
        row["cached_share"] = round(stats.cached_share, 4)
    return row
