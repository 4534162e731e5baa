"""Controls: servers with nothing wrong, and recordings that cannot tell."""

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import H200, L40S
from ppagent_evals.writing.gpus import Gpu, topology
from ppagent_evals.writing.incident import Answer, Incident, stack
from ppagent_evals.writing.lines import Prefill, prefill_line
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, LLAMA_70B_FP8, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server, batch_ranks

_TIMER = {"SGLANG_ENABLE_METRICS_DEVICE_TIMER": "1"}


_HEALTHY_PP4_LOADED = Answer(
    "healthy",
    note="All four slots hold 16 requests, every stage spends more than 90 % of its time in forwards, graphs are on, "
    "nothing waits.",
    ref="made up: one slot of 16 for each stage, stage time from weights over memory bandwidth",
    also_accepted=("LB001",),
    must_not_support=("PP001", "PP003", "PP004", "PP007", "CG001", "CG002", "KV001", "KV002", "IC001", "CP001"),
    ruled_out=("PP001", "PP003", "CG001", "KV001"),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--pp-max-micro-batch-size"),
    evidence=("server.log",),
)


def healthy_pp4_loaded() -> Incident:
    server = Server(
        "0.5.12",
        QWEN3_32B,
        L40S,
        pp=4,
        env=_TIMER,
        flags={"--pp-max-micro-batch-size": "16", "--enable-metrics": "true", "--decode-log-interval": "41"},
    )
    scene = Scene("healthy-pp4-loaded", server, "2026-05-11T09:12:04")
    scene.start(load_s=61)
    load = Load((16,) * 4, 88, 512, 768, prefill_ms_per_k=52, occupancy=(93, 94, 94, 96))
    scene.serve(load, 14)
    done = scene.serve_unseen(load, 90, scrape_every=30)
    power = [Gpu(97, watts, temperature_c=66) for watts in (268, 263, 265, 279)]
    return Incident(
        "healthy-pp4-loaded",
        "Qwen3-32B over four stages under a steady load",
        "Is our pipeline server using the four L40S properly, or is there a flag we are missing? 64 parallel "
        "requests, 512 in and 768 out.",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Qwen3-32B"),
        ("control", "pp", "healthy"),
        _HEALTHY_PP4_LOADED,
        hosts={
            "box": scene.host(gpus__csv=scene.gpus(power), topology__txt=topology(4), server_info__json=scene.info())
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_HEALTHY_TP8_H200 = Answer(
    "healthy",
    note="Graphs on, queue empty, NVLink, power around 500 W, a step of 28 ms at 64 requests: as expected.",
    ref="made up; step time in the range published for this model on H200",
    also_accepted=("LB001",),
    must_not_support=("PP001", "PP002", "CG001", "CG002", "KV001", "KV002", "IC001", "IC003", "HW001"),
    ruled_out=("CG001", "KV001"),
    forbidden_changes=("--disable-cuda-graph", "--pp-size", "--attention-backend"),
    evidence=("server.log",),
)


def healthy_tp8_h200() -> Incident:
    server = Server("0.5.10", DEEPSEEK_R1, H200, tp=8, flags={"--trust-remote-code": "true"})
    scene = Scene("healthy-tp8-h200", server, "2026-04-20T18:30:51")
    scene.start(load_s=212)
    load = Load((64,), 27.5, 1024, 1024, prefill_ms_per_k=34)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 120)
    power = [Gpu(99, watts, temperature_c=61) for watts in (506, 498, 511, 502, 495, 508, 503, 499)]
    return Incident(
        "healthy-tp8-h200",
        "DeepSeek-R1 with tensor parallelism on one H200 node",
        "We get about 2.2k tok/s at 64 concurrent on 8xH200. Is something broken or is that it?",
        "synthetic",
        stack(server, "8x NVIDIA H200", "DeepSeek-R1-0528"),
        ("control", "tp", "healthy"),
        _HEALTHY_TP8_H200,
        hosts={"node": scene.host(gpus__csv=scene.gpus(power), topology__txt=topology(8, near="NV18", far="NV18"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_IDLE_AFTER_LAUNCH = Answer(
    "not_enough_evidence",
    note="The log holds a clean start and health checks; only one-token probes were served while it was taken.",
    ref="made up",
    must_not_support=("PP001", "PP002", "PP003", "CG001", "KV001", "KV002", "IC001", "LB001", "CP001"),
    forbidden_changes=("--pp-max-micro-batch-size", "--disable-cuda-graph", "--tp-size", "--pp-size"),
)


def idle_after_launch() -> Incident:
    server = Server("0.5.14", LLAMA_70B_FP8, L40S, tp=2, pp=2)
    scene = Scene("idle-after-launch", server, "2026-07-02T07:05:33")
    scene.start(load_s=74)
    for _ in range(8):
        scene.log.at += 60
        probe(scene)
    return Incident(
        "idle-after-launch",
        "A launch command and a log without a single request",
        "Inference was slow yesterday evening. What should I change?",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Llama-3.3-70B FP8"),
        ("control", "not-enough-evidence"),
        _IDLE_AFTER_LAUNCH,
        hosts={"box": scene.host()},
    )


def probe(scene: Scene) -> None:
    """One health check: a one-token request (sglang 0.5.14: http_server.health_generate)."""
    batch = Prefill(1, 1, 0, "token usage: 0.00, ", 0, 0, input_tokens_per_s=0.02)
    for rank in batch_ranks(scene.server):
        scene.log.line(prefill_line(scene.server.version, batch), rank)
    scene.log.line('INFO:     10.0.0.7:50112 - "GET /health HTTP/1.1" 200 OK')


CASES = (healthy_pp4_loaded, healthy_tp8_h200, idle_after_launch)
