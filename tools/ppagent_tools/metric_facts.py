"""Scrapes of /metrics as facts. Pipeline rank 0 counts unless a fact is by rank; a rate needs two timed scrapes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean

from ppagent.evidence.evidence import FactValue
from ppagent.sglang.metrics import (
    OverDp,
    Scrape,
    histogram_mean,
    increases,
    rate,
    rate_by_pp_rank,
    seconds_between,
)

Facts = dict[str, FactValue]

_GAUGES: tuple[tuple[str, str, OverDp], ...] = (
    ("metrics.queue_reqs", "num_queue_reqs", "sum"),
    ("metrics.token_usage", "token_usage", "mean"),
    ("metrics.new_token_ratio", "new_token_ratio", "mean"),
    ("metrics.grammar_queue", "num_grammar_queue_reqs", "sum"),
)
"""Mean over all scrapes."""
_BUSY_GAUGES: tuple[tuple[str, str, OverDp], ...] = (
    ("metrics.running_reqs", "num_running_reqs", "max"),
    ("metrics.gen_throughput", "gen_throughput", "sum"),
    ("metrics.cache_hit_rate", "cache_hit_rate", "mean"),
    ("metrics.accept_length", "spec_accept_length", "mean"),
)
"""Mean over the scrapes in which requests run: an idle server's gauges hold their last or a zero value."""
_MEANS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("metrics.itl_ms", ("inter_token_latency_seconds",), 1000.0),
    ("metrics.ttft_ms", ("time_to_first_token_seconds",), 1000.0),
    ("metrics.queue_ms", ("queue_time_seconds", "queue_time_s"), 1000.0),
    ("metrics.e2e_ms", ("e2e_request_latency_seconds",), 1000.0),
    ("metrics.grammar_seconds", ("grammar_compilation_time_seconds",), 1.0),
    ("metrics.dp_imbalance", ("dp_attention_token_imbalance_ratio",), 1.0),
    ("metrics.eplb_balancedness", ("eplb_balancedness",), 1.0),
)
"""Histograms and summaries, by the names of the versions: sum over count. The time in the queue is
`queue_time_s` in 0.5.2 alone (srt/metrics/collector.py)."""
_RATES = (
    ("metrics.generation_rate", "generation_tokens_total"),
    ("metrics.prompt_rate", "prompt_tokens_total"),
)
_TOKENS = ("time_to_first_token_seconds", "inter_token_latency_seconds")
"""Each counts the tokens that it timed, as they are handed out."""
_BUSY_SHARES: tuple[tuple[str, tuple[str, ...], dict[str, str]], ...] = (
    ("metrics.forward_busy", ("forward_execution_seconds_total", "gpu_execution_seconds_total"), {}),
    ("metrics.run_batch_busy", ("scheduler_stage_seconds_total",), {"category": "run_batch"}),
    ("metrics.scheduler_cpu", ("scheduler_process_cpu_seconds_total",), {}),
)
_OF_A_PROCESS = "metrics.scheduler_cpu"
"""May be more than one: a process has threads."""
_WHOLE = 1.05
"""A share of the time, with the error of the clocks that measure it."""
_RUNNING = "num_running_reqs"
_STREAMED = 'is_streaming="true"'


@dataclass
class Group:
    """Facts that one sample line of the scrapes stands for."""

    metric: str
    facts: Facts = field(default_factory=dict)
    label: str = ""
    """A label of the sample to be quoted, where the metric has several."""


MANY_ENDS = 10
"""So many requests have to end for their latency to tell how many are in flight."""


def metric_groups(scrapes: Sequence[Scrape]) -> list[Group]:
    """Every fact that the scrapes hold, by the metric that shows it."""
    working = _at_work(scrapes)
    groups = [
        *_gauges(scrapes),
        *_by_dp(scrapes),
        *_rates(working),
        *_means(scrapes),
        _in_flight(working),
        _graph_share(scrapes),
        _retracted(scrapes),
        *_by_rank(working),
    ]
    return [group for group in groups if group is not None]


def _at_work(scrapes: Sequence[Scrape]) -> Sequence[Scrape]:
    """The longest row of scrapes in which requests run, for figures of a time: a pause in it would count as slowness.
    All where none runs in any, or how many run is not told."""
    rows = [list(row) for at_work, row in groupby(scrapes, key=lambda scrape: bool(scrape.gauge(_RUNNING))) if at_work]
    return max(rows, key=len) if rows else scrapes


def _gauges(scrapes: Sequence[Scrape]) -> list[Group]:
    busy = [scrape for scrape in scrapes if scrape.gauge(_RUNNING)]
    wanted = [(row, scrapes) for row in _GAUGES] + [(row, busy or scrapes) for row in _BUSY_GAUGES]
    groups = []
    for (name, metric, over_dp), chosen in wanted:
        values = [value for scrape in chosen if (value := scrape.gauge(metric, over_dp=over_dp)) is not None]
        if values and not (metric == "spec_accept_length" and not any(values)):
            groups.append(Group(metric, {name: round(fmean(values), 4)}))
    return groups


def _by_dp(scrapes: Sequence[Scrape]) -> list[Group]:
    groups = []
    for name, metric in (("running_reqs", "num_running_reqs"), ("queue_reqs", "num_queue_reqs")):
        rows: dict[str, list[float]] = {}
        for scrape in scrapes:
            for dp, value in scrape.by_dp(metric).items():
                rows.setdefault(dp, []).append(value)
        if len(rows) > 1:
            table: Facts = {f"DP{dp or 0}": round(fmean(values), 3) for dp, values in rows.items()}
            groups.append(Group(metric, {f"metrics.{name}_by_dp": table}))
    return groups


def _rates(scrapes: Sequence[Scrape]) -> list[Group]:
    window_s = seconds_between(scrapes)
    groups = [Group("", {"metrics.window_s": window_s})] if window_s is not None else []
    for name, metric in _RATES:
        value = rate(scrapes, metric)
        if value is not None:
            groups.append(Group(metric, {name: round(value, 3)}, _STREAMED))
    firsts, others = (rate(scrapes, f"{metric}_count") for metric in _TOKENS)
    if firsts is not None and others:
        groups.append(Group(f"{_TOKENS[1]}_count", {"metrics.streamed_rate": round(firsts + others, 3)}, _STREAMED))
    return groups


def _means(scrapes: Sequence[Scrape]) -> list[Group]:
    groups = []
    for name, metrics, factor in _MEANS:
        found = ((metric, histogram_mean(scrapes, metric)) for metric in metrics)
        metric, value = next(((m, v) for m, v in found if v is not None), ("", None))
        if value is not None:
            groups.append(Group(f"{metric}_sum", {name: round(value * factor, 3)}, _STREAMED))
    return groups


def _in_flight(scrapes: Sequence[Scrape]) -> Group | None:
    """Little's law: completions a second times their latency is the latency summed up a second. Where few requests end
    in the time looked at, the time between tokens is summed up a second, which streamed ones add to as they go; others
    add to it with every 50th token alone (`SGLANG_FORCE_STREAM_INTERVAL` of `srt/environ.py`, 0.5.23), so that the more
    counts. A few ends that mean far fewer requests than one stage held at a time tell nothing."""
    gaps, latencies = "inter_token_latency_seconds_sum", "e2e_request_latency_seconds_sum"
    few = sum(row.value for row in increases(scrapes, "e2e_request_latency_seconds_count")) < MANY_ENDS
    decoding = rate(scrapes, gaps) if few else None
    whole = rate(scrapes, latencies, **({"is_streaming": "false"} if decoding else {}))
    metric, value = max((gaps, decoding or 0.0), (latencies, whole or 0.0), key=lambda row: row[1])
    held = fmean([scrape.gauge(_RUNNING) or 0.0 for scrape in scrapes] or [0.0])
    if not value or (few and value < held / 2):
        return None
    label = 'is_streaming="false"' if decoding and metric == latencies else _STREAMED
    return Group(metric, {"metrics.in_flight": round(value, 3)}, label)


def _graph_share(scrapes: Sequence[Scrape]) -> Group | None:
    """Share of decode passes replayed from a graph (`cuda_graph_passes_total{mode="decode_..."}`, 0.5.7+)."""
    passes = {"graph": 0.0, "none": 0.0}
    for row in increases(scrapes, "cuda_graph_passes_total"):
        mode = row.labels.get("mode", "")
        if row.labels.get("pp_rank", "0") == "0" and mode.startswith("decode"):
            passes["none" if mode.endswith("none") else "graph"] += row.value
    total = sum(passes.values())
    if not total:
        return None
    share = round(passes["graph"] / total, 4)
    return Group("cuda_graph_passes_total", {"metrics.graph_share": share}, 'mode="decode')


def _retracted(scrapes: Sequence[Scrape]) -> Group | None:
    """A counter where the version has one, else the highest value of the gauge of the last retraction."""
    for metric in ("num_retracted_requests_total", "total_retracted_reqs"):
        grown = increases(scrapes, metric)
        if grown:
            own = sum(row.value for row in grown if row.labels.get("pp_rank", "0") == "0")
            return Group(metric, {"metrics.retracted_reqs": own})
    values = [value for scrape in scrapes if (value := scrape.gauge("num_retracted_reqs")) is not None]
    return Group("num_retracted_reqs", {"metrics.retracted_reqs": max(values)}) if values else None


def _by_rank(scrapes: Sequence[Scrape]) -> list[Group]:
    groups = []
    occupancy: dict[int, list[float]] = {}
    for scrape in scrapes:
        for pp, value in scrape.by_pp_rank("fwd_occupancy").items():
            occupancy.setdefault(pp, []).append(value)
    if any(any(values) for values in occupancy.values()):
        table = {pp: fmean(values) for pp, values in occupancy.items()}
        groups.append(Group("fwd_occupancy", {"metrics.fwd_occupancy": _labelled(table)}))
    for name, metrics, labels in _BUSY_SHARES:
        found = ((metric, rate_by_pp_rank(scrapes, metric, **labels)) for metric in metrics)
        metric, shares = next(((m, s) for m, s in found if s), ("", {}))
        if any(shares.values()) and (name == _OF_A_PROCESS or max(shares.values()) <= _most(scrapes, metric)):
            label = "".join(f'{key}="{value}"' for key, value in labels.items())
            groups.append(Group(metric, {name: _labelled(shares)}, label))
    return groups


def _most(scrapes: Sequence[Scrape], metric: str) -> float:
    """The most that the busy shares of a stage's DP ranks come to. More is no share: counters of several servers, or a
    wrong clock."""
    ranks = {sample.labels.get("dp_rank", "") for scrape in scrapes for sample in scrape.series(metric)}
    return _WHOLE * len(ranks)


def _labelled(table: dict[int, float]) -> FactValue:
    return {f"PP{pp}": round(value, 4) for pp, value in sorted(table.items())}
