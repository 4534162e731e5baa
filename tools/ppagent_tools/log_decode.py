"""Decode lines as facts. Per scheduler where a figure is a scheduler's (running, queue, usage), summed over DP ranks
where a sum means something (throughput)."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.sglang.logs.series import Spread, spread_of
from ppagent.sglang.logs.summary import DecodeStats, aliases, slots_shown
from ppagent_tools.log_reading import HostLog, Logs
from ppagent_tools.reading import tidy

Facts = dict[str, FactValue]
_RETRACTION = "kv_pool_full"


def decode_findings(logs: Logs) -> list[Finding]:
    """What the decode lines amount to, each group with a line that shows it."""
    found = logs.decode()
    if not found:
        return [logs.first.finding({"decode.lines": 0}, logs.first.tap.line("ready") or logs.first.first_line)]
    log, every = found[0][0], [stats for _, stats in found]
    groups = (
        (_running(every), "running_p50"),
        (_graph(every), "graph_false" if any(stats.graph_false for stats in every) else "graph_true"),
        (_load(every), "queue_max"),
        (_speed(log, every), "tokens_per_s_p50"),
        (_interval(log), "last"),
        (_by_rank(logs, every), "last"),
    )
    findings = [log.finding(facts, _example(every, name), every[0].last_at) for facts, name in groups if facts]
    findings += _stall(log, every)
    return findings + list(logs.unread)


def _example(every: Sequence[DecodeStats], name: str) -> str:
    lines = [stats.examples[name] for stats in every if name in stats.examples]
    return lines[0] if lines else every[0].examples.get("last", "")


def _running(every: Sequence[DecodeStats]) -> Facts:
    counts: Counter[int] = Counter()
    for stats in every:
        counts.update(stats.running_counts)
    table = dict(sorted(counts.items()))
    facts: Facts = {"decode.lines": sum(stats.lines for stats in every)}
    facts.update(_spread("decode.running_req", spread_of({float(n): times for n, times in table.items()}), low="min"))
    facts["decode.running_req_histogram"] = {str(requests): times for requests, times in table.items()}
    return facts


def _load(every: Sequence[DecodeStats]) -> Facts:
    facts: Facts = {}
    facts.update(_spread("decode.queue_req", _pooled([stats.queue for stats in every])))
    facts.update(_spread("decode.token_usage", _pooled([stats.token_usage for stats in every])))
    facts.update(_spread("decode.tokens", _pooled([stats.tokens for stats in every])))
    facts["decode.queue_share"] = _weighted(every, lambda stats: stats.queue_share)
    return facts


def _speed(log: HostLog, every: Sequence[DecodeStats]) -> Facts:
    speeds = [stats.tokens_per_s for stats in every if stats.tokens_per_s is not None]
    facts: Facts = {}
    if speeds:
        facts.update(
            {
                "decode.throughput.mean": _sum(speeds, lambda s: s.mean),
                "decode.throughput.min": _sum(speeds, lambda s: s.low),
                "decode.throughput.p50": _sum(speeds, lambda s: s.p50),
                "decode.throughput.p95": _sum(speeds, lambda s: s.p95),
                "decode.throughput.max": _sum(speeds, lambda s: s.high),
            }
        )
    lengths = [stats for stats in every if stats.accept_len is not None]
    if lengths:
        facts["decode.accept_len.mean"] = _weighted(lengths, lambda stats: stats.accept_len)
    rates = [stats for stats in every if stats.accept_rate is not None]
    if rates:
        facts["decode.accept_rate.mean"] = _weighted(rates, lambda stats: stats.accept_rate)
    return facts | _around_retraction(log)


def _around_retraction(log: HostLog) -> Facts:
    """Where the server stood before the first retraction and after the last one."""
    tally = log.stretch.troubles.get(_RETRACTION)
    facts: Facts = {}
    for when, level in (("before", tally.before), ("after", tally.after)) if tally is not None else ():
        if level is not None:
            facts[f"decode.throughput_{when}"] = round(level.tokens_per_s, 2)
            facts[f"decode.running_{when}"] = level.running
    return facts


def _graph(every: Sequence[DecodeStats]) -> Facts:
    replayed, eager = sum(stats.graph_true for stats in every), sum(stats.graph_false for stats in every)
    if not replayed + eager:
        return {}
    inside = [stats.max_running_in_graph for stats in every if stats.max_running_in_graph is not None]
    outside = [stats.min_running_outside_graph for stats in every if stats.min_running_outside_graph is not None]
    facts: Facts = {
        "decode.graph_true_share": round(replayed / (replayed + eager), 4),
        "decode.graph_label": every[0].graph_label,
    }
    if inside:
        facts["decode.graph_true_running_max"] = max(inside)
    if outside:
        facts["decode.graph_false_running_min"] = min(outside)
    return facts


def _stall(log: HostLog, every: Sequence[DecodeStats]) -> list[Finding]:
    """The longest time without a decode line while there was work: prefill lines kept coming, or none did and the next
    line went on with the requests of the one before."""
    lane = log.tap.lane
    gaps = [(lane.stall_s, lane.stall_line)] if lane is not None and lane.decoded > 1 else []
    if not _decodes_only(log):
        stalls = [stats.longest_stall_s for stats in every if stats.longest_stall_s is not None]
        gaps += [(stall_s, _example(every, "last")) for stall_s in stalls]
    if not gaps:
        return []
    longest_s, line = max(gaps)
    return [log.finding({"decode.longest_gap_s": longest_s}, line or _example(every, "last"))]


def _interval(log: HostLog) -> Facts:
    """Whether the decode lines show one slot again and again: forwards are counted over all slots in turn."""
    args = log.stretch.startup.args
    values = args.values if args is not None else {}
    interval, stages = values.get("decode_log_interval"), values.get("pp_size", values.get("pipeline_parallel_size"))
    depth = values.get("pp_async_batch_depth")
    if not isinstance(interval, int) or not isinstance(stages, int) or stages < 2:
        return {}
    slots = stages + (depth if isinstance(depth, int) else 0)
    return {"decode.interval_lines": slots_shown(interval, slots), "decode.same_slot_logged": aliases(interval, slots)}


def _decodes_only(log: HostLog) -> bool:
    """The decode half of a pair gets its requests from elsewhere, so its silences tell nothing."""
    args = log.stretch.startup.args
    return not log.stretch.prefill or (args is not None and args.values.get("disaggregation_mode") == "decode")


def _by_rank(logs: Logs, every: Sequence[DecodeStats]) -> Facts:
    facts: Facts = {}
    percents: Facts = {}
    for log in logs:
        percents.update((f"PP{pp}", round(percent, 2)) for pp, percent in log.stretch.occupancy_percent.items())
    if percents:
        facts["decode.fwd_occupancy"] = dict(sorted(percents.items(), key=lambda item: int(item[0][2:])))
    if len(every) > 1:
        facts["decode.by_dp"] = {f"DP{stats.ranks.dp or 0}": _dp_row(stats) for stats in every}
    return facts


def _dp_row(stats: DecodeStats) -> FactValue:
    row: Facts = {"lines": stats.lines}
    for name, spread in (
        ("running", stats.running),
        ("queue", stats.queue),
        ("token_usage", stats.token_usage),
        ("throughput", stats.tokens_per_s),
    ):
        if spread is not None:
            row[name] = spread.p50
    return row


def _spread(name: str, spread: Spread | None, low: str = "") -> Facts:
    if spread is None:
        return {}
    facts: Facts = {
        f"{name}.mean": tidy(round(spread.mean, 4)),
        f"{name}.p50": tidy(spread.p50),
        f"{name}.p95": tidy(spread.p95),
        f"{name}.max": tidy(spread.high),
    }
    return facts | ({f"{name}.{low}": tidy(spread.low)} if low else {})


def _pooled(spreads: Sequence[Spread | None]) -> Spread | None:
    """One spread for the schedulers of all DP ranks: means weighted by lines, percentiles of the middle rank, the
    extremes of all."""
    known = [spread for spread in spreads if spread is not None]
    if len(known) < 2:
        return known[0] if known else None
    count = sum(spread.count for spread in known)
    mean = sum(spread.mean * spread.count for spread in known) / count
    p50, p95 = fmean(s.p50 for s in known), fmean(s.p95 for s in known)
    return Spread(count, mean, min(s.low for s in known), p50, p95, max(s.high for s in known))


def _sum(spreads: Sequence[Spread], value: Callable[[Spread], float]) -> float:
    return round(sum(value(spread) for spread in spreads), 2)


def _weighted(every: Sequence[DecodeStats], value: Callable[[DecodeStats], float | None]) -> float:
    lines = sum(stats.lines for stats in every)
    return round(sum((value(stats) or 0.0) * stats.lines for stats in every) / lines, 4)
