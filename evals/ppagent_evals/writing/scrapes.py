"""Scrapes of /metrics: what a scheduler counted, in Prometheus' text form (sglang metrics collector)."""

from collections.abc import Callable, Iterable, Iterator

from ppagent_evals.writing.load import Counters
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.traffic import Scheduler
from ppagent_evals.writing.versions import since

Sample = tuple[str, str, float]
"""Labels, suffix of the name, value."""
Family = tuple[str, str, str, list[Sample]]
"""Name, kind, help text, samples."""


def scrapes(log: Log, schedulers: list[Scheduler], *, without: Iterable[str] = ()) -> dict[str, str]:
    """`metrics/<n>.prom` for every snapshot that the schedulers took; `without` are metrics to leave out."""
    count = min(len(s.snapshots) for s in schedulers)
    return {f"metrics/{n + 1}.prom": _scrape(log, schedulers, n, set(without)) for n in range(count)}


def _scrape(log: Log, schedulers: list[Scheduler], n: int, without: set[str]) -> str:
    moments = [s.snapshots[n] for s in schedulers]
    at = max(m.at for m in moments)
    families = [
        *_scheduler_families(log, schedulers, moments),
        *_rare_families(log, schedulers, moments, n + 1),
        *_front_families(log, moments),
    ]
    lines = [f"# scraped_at: {log.iso(at)}Z"]
    for name, kind, text, samples in families:
        if name in without:
            continue
        lines += [f"# HELP sglang:{name} {text}", f"# TYPE sglang:{name} {kind}"]
        lines += [f"sglang:{name}{suffix}{{{labels}}} {value}" for labels, suffix, value in samples]
    return "\n".join(lines) + "\n"


_GAUGES: tuple[tuple[str, str, str, Callable[[Scheduler, Counters], float]], ...] = (
    ("0.4.7", "num_running_reqs", "The number of running requests.", lambda _, m: float(m.running)),
    ("0.4.7", "num_queue_reqs", "The number of requests in the waiting queue.", lambda _, m: float(m.queue)),
    ("0.4.7", "num_used_tokens", "The number of used tokens.", lambda _, m: float(m.used_tokens)),
    ("0.4.7", "token_usage", "The token usage.", lambda s, m: round(m.used_tokens / s.capacity, 4)),
    ("0.4.7", "gen_throughput", "The generation throughput (token/s).", lambda _, m: round(m.tokens_per_s, 3)),
    ("0.4.7", "cache_hit_rate", "The prefix cache hit rate.", lambda _, m: round(m.hit_rate, 4)),
    ("0.5.2", "num_retracted_reqs", "The number of retracted requests.", lambda _, m: float(m.retracted_lately)),
    (
        "0.4.7",
        "num_grammar_queue_reqs",
        "The number of requests in the grammar waiting queue.",
        lambda _, m: float(m.grammar[0]),
    ),
    ("0.5.6", "new_token_ratio", "The new token ratio.", lambda _, m: round(m.new_token_ratio, 4)),
    (
        "0.5.6",
        "max_total_num_tokens",
        "Maximum total number of tokens in the KV cache pool.",
        lambda s, _: float(s.capacity),
    ),
)
"""Since which version, name, help text, value."""


def _scheduler_families(log: Log, schedulers: list[Scheduler], moments: list[Counters]) -> Iterator[Family]:
    version = log.server.version
    pairs = [(s, m, rank.pp) for s, m in zip(schedulers, moments, strict=True) for rank in s.ranks]
    for first, name, text, value in _GAUGES:
        if since(version, first):
            yield name, "gauge", text, [(_labels(log, s, pp), "", value(s, m)) for s, m, pp in pairs]
    if since(version, "0.5.8"):
        total = [(_labels(log, s, pp), "", float(m.retracted)) for s, m, pp in pairs]
        yield "num_retracted_requests_total", "counter", "Total number of retracted requests.", total
    if since(version, "0.5.7"):
        yield _graph_passes(log, schedulers, moments)
    if log.server.env.get("SGLANG_ENABLE_METRICS_DEVICE_TIMER") == "1":
        name = "forward_execution_seconds_total" if since(version, "0.5.11") else "gpu_execution_seconds_total"
        busy = [(_labels(log, s, pp, category="decode"), "", round(m.busy_s[pp], 3)) for s, m, pp in pairs]
        yield name, "counter", "Total time spent in forward execution.", busy
        if since(version, "0.5.12"):
            share = [(_labels(log, s, pp), "", m.occupancy[pp]) for s, m, pp in pairs]
            yield "fwd_occupancy", "gauge", "Forward pass GPU occupancy.", share


def _rare_families(
    log: Log, schedulers: list[Scheduler], moments: list[Counters], scrapes_taken: int
) -> Iterator[Family]:
    """What only some servers count: grammars compiled, and the balance of experts."""
    pairs = [(s, m) for s, m in zip(schedulers, moments, strict=True)]
    if any(m.accept_len for m in moments):
        samples = [(_labels(log, s, 0), "", m.accept_len) for s, m in pairs]
        yield "spec_accept_length", "gauge", "The average acceptance length of speculative decoding.", samples
    if any(m.grammar[1] for m in moments):
        samples = []
        for s, m in pairs:
            labels, count = _labels(log, s, 0), float(m.grammar[1] * scrapes_taken)
            samples.append((labels + ',le="+Inf"', "_bucket", count))
            samples.append((labels, "_count", count))
            samples.append((labels, "_sum", round(m.grammar[2] * scrapes_taken, 3)))
        yield (
            "grammar_compilation_time_seconds",
            "histogram",
            "Histogram of grammar compilation time in seconds.",
            samples,
        )
    if any(m.balance for m in moments):
        samples = []
        for s, m in pairs:
            labels, passes = _labels(log, s, 0, forward_mode="decode"), float(m.graph_passes + m.eager_passes)
            samples.append((labels, "_count", passes))
            samples.append((labels, "_sum", round(m.balance * passes, 3)))
        yield "eplb_balancedness", "summary", "Balancedness of MoE in expert parallelism.", samples


def _graph_passes(log: Log, schedulers: list[Scheduler], moments: list[Counters]) -> Family:
    samples = [
        (_labels(log, s, rank.pp, mode=mode), "", float(value))
        for s, m in zip(schedulers, moments, strict=True)
        for rank in s.ranks
        for mode, value in (("decode_cuda_graph", m.graph_passes), ("decode_none", m.eager_passes))
    ]
    return "cuda_graph_passes_total", "counter", "Total number of forward passes categorized by CUDA graph.", samples


_TOTALS = (
    ("prompt_tokens_total", "Number of prefill tokens processed.", "prompt_tokens"),
    ("generation_tokens_total", "Number of generation tokens processed.", "generated"),
    ("cached_tokens_total", "Number of cached prompt tokens.", "cached_tokens"),
    ("num_requests_total", "Number of requests processed.", "finished"),
)
_LATENCIES = (
    ("time_to_first_token_seconds", "Histogram of time to first token in seconds.", "ttft_sum_s", "prefills"),
    ("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", "itl_sum_s", "generated"),
    ("e2e_request_latency_seconds", "Histogram of End-to-end request latency in seconds", "e2e_sum_s", "finished"),
    ("queue_time_seconds", "Histogram of queueing time in seconds.", "queue_sum_s", "prefills"),
)


def _front_families(log: Log, moments: list[Counters]) -> Iterator[Family]:
    """What is counted over all data-parallel ranks, most of it by the tokenizer's process."""
    labels = f'model_name="{log.server.model.path}"'

    def total(counted: str) -> float:
        return float(sum(getattr(m, counted) for m in moments))

    for name, text, counted in _TOTALS:
        yield name, "counter", text, [(labels, "", float(round(total(counted))))]
    for name, text, summed, counted in _LATENCIES:
        count = float(round(total(counted)))
        samples = [(f'{labels},le="+Inf"', "_bucket", count), (labels, "_count", count)]
        yield name, "histogram", text, [*samples, (labels, "_sum", round(total(summed), 4))]


def _labels(log: Log, scheduler: Scheduler, stage: int, **extra: str) -> str:
    labels = {
        "engine_type": "unified",
        "model_name": log.server.model.path,
        "pp_rank": str(stage),
        "tp_rank": "0",
        **extra,
    }
    if since(log.server.version, "0.5.7"):
        labels["moe_ep_rank"] = "0"
    if scheduler.dp is not None:
        labels["dp_rank"] = str(scheduler.dp)
        labels["tp_rank"] = str(next(r.tp for r in scheduler.ranks))
    return ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
