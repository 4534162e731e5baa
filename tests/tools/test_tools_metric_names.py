"""Every metric that facts are made of, as each version of SGLang exports it.

Read in `srt/metrics/collector.py` (to 0.5.9) and `srt/observability/metrics_collector.py` of 0.5.1 to 0.5.23: the
kind, the labels it has besides those of its scheduler, and the versions that have it.
"""

from dataclasses import dataclass

import pytest
from packaging.version import Version
from test_tools_http import metrics
from tool_fakes import facts_of, run

from ppagent_tools.http import Metrics

FIRST, LAST = "0.5.0", "0.5.23"
SECONDS = 10


@dataclass(frozen=True)
class Exported:
    name: str
    kind: str
    fact: str
    value: object
    """What the fact must be."""
    since: str = FIRST
    until: str = LAST
    labels: str = ""
    of_a_scheduler: bool = True
    """Stated by every stage, or by the one process in front of them."""


STAGES = {"PP0": 0.5, "PP1": 0.5}
EXPORTED = (
    Exported("num_running_reqs", "gauge", "metrics.running_reqs", 0.5),
    Exported("num_queue_reqs", "gauge", "metrics.queue_reqs", 0.5),
    Exported("token_usage", "gauge", "metrics.token_usage", 0.5),
    Exported("gen_throughput", "gauge", "metrics.gen_throughput", 0.5),
    Exported("cache_hit_rate", "gauge", "metrics.cache_hit_rate", 0.5),
    Exported("spec_accept_length", "gauge", "metrics.accept_length", 0.5),
    Exported("num_grammar_queue_reqs", "gauge", "metrics.grammar_queue", 0.5),
    Exported("new_token_ratio", "gauge", "metrics.new_token_ratio", 0.5, since="0.5.5.post1"),
    Exported("fwd_occupancy", "gauge", "metrics.fwd_occupancy", STAGES, since="0.5.12"),
    Exported("total_retracted_reqs", "counted gauge", "metrics.retracted_reqs", 5, until="0.5.2"),
    Exported("num_retracted_reqs", "gauge", "metrics.retracted_reqs", 0.5, since="0.5.3", until="0.5.6.post2"),
    Exported("num_retracted_requests_total", "counter", "metrics.retracted_reqs", 5, since="0.5.7"),
    Exported("inter_token_latency_seconds", "histogram", "metrics.itl_ms", 500, of_a_scheduler=False),
    Exported("time_to_first_token_seconds", "histogram", "metrics.ttft_ms", 500, until="0.5.16", of_a_scheduler=False),
    Exported(
        "time_to_first_token_seconds",
        "histogram",
        "metrics.ttft_ms",
        500,
        since="0.5.17",
        labels="is_streaming",
        of_a_scheduler=False,
    ),
    Exported("e2e_request_latency_seconds", "histogram", "metrics.e2e_ms", 500, until="0.5.16", of_a_scheduler=False),
    Exported(
        "e2e_request_latency_seconds",
        "histogram",
        "metrics.e2e_ms",
        500,
        since="0.5.17",
        labels="is_streaming",
        of_a_scheduler=False,
    ),
    Exported("queue_time_s", "histogram", "metrics.queue_ms", 500, since="0.5.2", until="0.5.2"),
    Exported("queue_time_seconds", "histogram", "metrics.queue_ms", 500, since="0.5.3"),
    Exported("grammar_compilation_time_seconds", "histogram", "metrics.grammar_seconds", 0.5, since="0.5.2"),
    Exported("dp_attention_token_imbalance_ratio", "histogram", "metrics.dp_imbalance", 0.5, since="0.5.22"),
    Exported("eplb_balancedness", "summary", "metrics.eplb_balancedness", 0.5, since="0.5.7", labels="forward_mode"),
    Exported("generation_tokens_total", "counter", "metrics.generation_rate", 0.5, of_a_scheduler=False),
    Exported("prompt_tokens_total", "counter", "metrics.prompt_rate", 0.5, of_a_scheduler=False),
    Exported(
        "gpu_execution_seconds_total",
        "counter",
        "metrics.forward_busy",
        STAGES,
        since="0.5.7",
        until="0.5.10.post1",
        labels="category",
    ),
    Exported(
        "forward_execution_seconds_total",
        "counter",
        "metrics.forward_busy",
        STAGES,
        since="0.5.11",
        labels="category",
    ),
    Exported("scheduler_process_cpu_seconds_total", "counter", "metrics.scheduler_cpu", STAGES, since="0.5.20"),
    Exported(
        "scheduler_stage_seconds_total",
        "counter",
        "metrics.run_batch_busy",
        STAGES,
        since="0.5.20",
        until="0.5.21",
        labels="category",
    ),
    Exported(
        "scheduler_stage_seconds_total",
        "counter",
        "metrics.run_batch_busy",
        STAGES,
        since="0.5.22",
        labels="category,forward_overlap",
    ),
)
LABELS = {
    "is_streaming": 'is_streaming="true"',
    "forward_mode": 'forward_mode="decode"',
    "category": 'category="run_batch"',
    "category,forward_overlap": 'category="run_batch",forward_overlap="none"',
    "": 'model_name="m"',
}


def sample_lines(exported: Exported, at_s: int) -> list[str]:
    """Half a unit at every stage, or grown by half a unit a second."""
    ranks = ["0", "1"] if exported.of_a_scheduler else [""]
    lines = []
    for rank in ranks:
        own = f',pp_rank="{rank}",tp_rank="0",engine_type="unified"' if rank else ""
        labels = "{" + LABELS[exported.labels] + own + "}"
        match exported.kind:
            case "gauge":
                lines.append(f"sglang:{exported.name}{labels} 0.5")
            case "counter" | "counted gauge":
                lines.append(f"sglang:{exported.name}{labels} {1 + at_s / 2}")
            case _:
                lines.append(f"sglang:{exported.name}_sum{labels} {1 + at_s * 2}")
                lines.append(f"sglang:{exported.name}_count{labels} {4 + at_s * 4}")
    return lines


@pytest.mark.parametrize("version", ["0.5.1", "0.5.2", "0.5.3", "0.5.7", "0.5.12", "0.5.17", "0.5.20", "0.5.23"])
def test_every_metric_of_a_version_is_read_as_what_it_is(version: str) -> None:
    there = [e for e in EXPORTED if Version(e.since) <= Version(version) <= Version(e.until)]
    texts = [
        f"# scraped_at: 2026-05-02T10:00:{at:02}Z\n" + "\n".join(line for e in there for line in sample_lines(e, at))
        for at in (0, SECONDS)
    ]
    facts = facts_of(run(Metrics(), metrics(*texts)))
    read = {e.fact: fact.value if (fact := facts.get(e.fact)) is not None else None for e in there}
    assert read == {e.fact: e.value for e in there}


def test_the_balancedness_is_the_mean_of_what_came_between_the_scrapes() -> None:
    texts = [
        f"# scraped_at: 2026-05-02T10:00:{at:02}Z\n"
        'sglang:num_running_reqs{pp_rank="0",tp_rank="0"} 8\n'
        f'sglang:eplb_balancedness_sum{{forward_mode="decode",pp_rank="0",tp_rank="0"}} {total}\n'
        f'sglang:eplb_balancedness_count{{forward_mode="decode",pp_rank="0",tp_rank="0"}} {passes}\n'
        for at, total, passes in ((0, 90, 100), (10, 124, 200))
    ]
    findings = run(Metrics(), metrics(*texts))
    assert facts_of(findings).number("metrics.eplb_balancedness") == 0.34
    (quoted,) = (f.excerpt for f in findings if "metrics.eplb_balancedness" in f.facts)
    assert quoted.startswith("sglang:eplb_balancedness_sum{")
