"""Recordings that need care: a missing figure, noise, two causes at once."""

from ppagent_evals.writing.bench import Row, jsonl, measured
from ppagent_evals.writing.cards import H20, L40S
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, artifacts, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import QWEN3_8B, QWEN3_235B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_HIDDEN = (
    "num_running_reqs",
    "num_queue_reqs",
    "gen_throughput",
    "token_usage",
    "num_used_tokens",
    "cuda_graph_passes_total",
    "new_token_ratio",
    "inter_token_latency_seconds",
    "e2e_request_latency_seconds",
    "time_to_first_token_seconds",
    "queue_time_seconds",
    "num_requests_total",
    "generation_tokens_total",
    "prompt_tokens_total",
    "cached_tokens_total",
)


_METRIC_MISSING = Answer(
    "not_enough_evidence",
    also_accepted=("ME001",),
    must_not_support=("PP001", "PP004", "PP007", "CG001", "KV001", "KV002", "IC001", "CP001", "HW001", "KR001"),
    forbidden_changes=("--disable-cuda-graph", "--pp-async-batch-depth", "--tp-size"),
    note="No log, no running count, no throughput, one load level. 100 % in nvidia-smi says nothing under a "
    "pipeline; unfilled slots fit, and so do others. The log's decode lines would decide.",
    ref="made up",
)


def metric_missing() -> Incident:
    server = Server("0.5.20", QWEN3_235B_FP8, H20, pp=4, flags={"--enable-metrics": "true"})
    scene = Scene("metric-missing", server, "2026-10-11T15:03:38")
    scene.start(load_s=150)
    load = Load((24,), 58, 800, 600, prefill_ms_per_k=90)
    scene.serve(load, 20, scrape_every=15)
    scrape = dict(scene.metrics(without=_HIDDEN))
    first = {"metrics/1.prom": scrape["metrics/1.prom"]}
    row: Row = {"tool": "own script", "max_concurrency": 24, "output_throughput": 404.0}
    return Incident(
        "metric-missing",
        "One scrape through a proxy that drops half the metrics",
        "Our Prometheus only keeps a few series of the server. 404 tok/s at 24 clients on 4x H20 with PP4. "
        "Utilisation is 100 %, so the GPUs are the limit, right?",
        "synthetic",
        stack(server, "4x NVIDIA H20 96 GB", "Qwen3-235B-A22B FP8"),
        ("control", "pp", "not-enough-evidence"),
        _METRIC_MISSING,
        hosts={"node": {**artifacts(server, "", gpus__csv=scene.gpus(spread(100, 189, 4))), **first}},
        files={"bench.jsonl": jsonl([row])},
    )


_PP001_NOISY_TRICKLE = Answer(
    "diagnosed",
    causes=("PP001",),
    also_accepted=("PP004", "PP007", "ME001"),
    must_not_support=("PP002", "PP003", "KV001", "KV002", "CG001", "IC001", "HW001", "CP003"),
    ruled_out=("PP003", "CG001", "KV001"),
    fixes=(fix(pp_max_micro_batch_size="1..5"),),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="Whatever the noise, every decode line of PP0 holds all of the nine to thirteen requests: one slot of four.",
    ref="made up",
)


def pp001_noisy_trickle() -> Incident:
    server = Server("0.5.10", QWEN3_235B_FP8, H20, pp=4, flags={"--context-length": "32768"})
    scene = Scene("pp001-noisy-trickle", server, "2026-04-18T18:52:27")
    scene.start(load_s=148)
    for place, (slots, turn_ms) in enumerate(
        (((9,), 38), ((12,), 45), ((11,), 51), ((13,), 44), ((10,), 41), ((12,), 49))
    ):
        load = Load(slots, turn_ms, 900, 650, prefill_ms_per_k=95, jitter=0.22, spread=0.6)
        scene.serve(load, 6.5, after_s=0 if place else 9, carry_on=place > 0)
    rows: list[Row] = [
        {
            "tool": "own client, think time 0.5-4 s",
            "max_concurrency": 12,
            "output_throughput": speed,
            "mean_ttft_ms": ttft,
        }
        for speed, ttft in ((231.4, 310.0), (188.0, 655.0), (262.7, 240.0))
    ]
    return Incident(
        "pp001-noisy-trickle",
        "Users with pauses, and figures that wander by a third",
        "About a dozen people chat through a PP4 server. Three runs of the same test gave 231, 188 and 263 tok/s. "
        "Each GPU is at 20 to 30 %. Is it the noise, or is there something to gain?",
        "synthetic",
        stack(server, "4x NVIDIA H20 96 GB", "Qwen3-235B-A22B FP8"),
        ("pp", "noise"),
        _PP001_NOISY_TRICKLE,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(26, 166, 4)), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl(rows)},
        stated=("Between 9 and 13 requests are in flight at any time.",),
    )


_TWO_CAUSES_CAP_AND_GRAPHS = Answer(
    "diagnosed",
    causes=("KV002", "CG001"),
    also_accepted=("CP001",),
    must_not_support=("KV001", "KV005", "CG002", "LB001", "HW001", "IC001", "PP001", "PP003"),
    ruled_out=("KV001", "CG002"),
    fixes=(
        fix(max_running_requests="32..4096", unset=("--disable-cuda-graph",)),
        fix(unset=("--disable-cuda-graph", "--max-running-requests")),
        fix(max_running_requests="32..4096"),
        fix(unset=("--max-running-requests",)),
    ),
    forbidden_changes=("--schedule-conservativeness", "--mem-fraction-static"),
    evidence=("server.log", "launch.txt"),
    note="Two things: a cap of 16 with 80 waiting and 6 % of the pool in use, and eager decoding. The cap is the "
    "larger; with it gone, graphs up to the new batch matter as well.",
    ref="made up",
)


def two_causes_cap_and_graphs() -> Incident:
    flags = {"--max-running-requests": "16", "--disable-cuda-graph": "true"}
    server = Server("0.5.8", QWEN3_8B, L40S, flags=flags)
    scene = Scene("two-causes-cap-and-graphs", server, "2026-02-25T07:44:56")
    scene.start(load_s=13)
    load = Load((16,), 33.5, 400, 350, offered=96, graph=False, prefill_ms_per_k=29)
    scene.serve(load, 24)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "two-causes-cap-and-graphs",
        "Slow and queueing",
        "96 clients on one L40S with an 8B model: 450 tok/s and a first token after 40 s. What is the one thing to "
        "fix?",
        "synthetic",
        stack(server, "1x NVIDIA L40S 48 GB", "Qwen3-8B"),
        ("control", "two-causes", "admission", "cuda-graph"),
        _TWO_CAUSES_CAP_AND_GRAPHS,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(86, 241, 1)), server_info__json=scene.info())},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


CASES = (
    metric_missing,
    pp001_noisy_trickle,
    two_causes_cap_and_graphs,
)
