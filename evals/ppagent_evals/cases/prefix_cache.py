"""Prefixes that are computed again and again."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import A100_80, H100
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import QWEN3_32B, QWEN35_122B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_KV004_RADIX_CACHE_OFF = Answer(
    "diagnosed",
    causes=("KV004",),
    also_accepted=("PR001",),
    must_not_support=("KV001", "KV002", "CG001", "PP001", "IC001", "HW001", "LB001"),
    ruled_out=("KV002", "CG001"),
    fixes=(fix(unset=("--disable-radix-cache",)),),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("server.log", "launch.txt"),
    note="--disable-radix-cache is set and #cached-token is 0 on every line, though the prompts share 6000 tokens.",
    ref="made up",
)


def kv004_radix_cache_off() -> Incident:
    server = Server("0.5.10", QWEN3_32B, A100_80, tp=2, flags={"--disable-radix-cache": "true"})
    scene = Scene("kv004-radix-cache-off", server, "2026-04-03T09:50:22")
    scene.start(load_s=38)
    load = Load((24,), 31, 6200, 180, prefill_ms_per_k=118)
    scene.serve(load, 34)
    done = scene.serve_unseen(load, 90)
    return Incident(
        "kv004-radix-cache-off",
        "One long system prompt, computed for every request",
        "All our requests start with the same 6k-token system prompt and tool list. 24 concurrent, time to first "
        "token is bad and the log is nothing but prefill.",
        "synthetic",
        stack(server, "2x NVIDIA A100 80 GB", "Qwen3-32B"),
        ("kv-cache", "prefix"),
        _KV004_RADIX_CACHE_OFF,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(99, 372, 2)), topology__txt=topology(2, near="NV12"))},
        files={
            "bench.jsonl": jsonl(
                [measured(done, load, dataset_name="generated-shared-prefix", gsp_system_prompt_len=6000)]
            )
        },
        stated=("Every request begins with the same 6,000 tokens.",),
    )


_KV004_BALANCING_THRASHES_PREFIXES = Answer(
    "diagnosed",
    causes=("KV004",),
    also_accepted=("LB002", "PR001"),
    must_not_support=("KV001", "KV002", "CG001", "PP001", "IC001", "HW001", "LB001"),
    ruled_out=("CG001",),
    fixes=(fix(load_balance_method="round_robin"), fix(unset=("--load-balance-method",)), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--disable-radix-cache"),
    evidence=("server.log",),
    note="Nearly every prefill line has #cached-token: 0 though 4096 of 4352 tokens are shared: requests of one "
    "group land on all ranks and push each other out. Round robin measured four times the rate.",
    ref="sgl-project/sglang#31170 (rates and latencies of both methods); log rebuilt",
)


_KV004_BALANCING_THRASHES_PREFIXES_ROW: Row = {
    "backend": "sglang",
    "dataset_name": "generated-shared-prefix",
    "max_concurrency": 64,
    "completed": 512,
    "request_throughput": 1.36,
    "output_throughput": 348.2,
    "mean_ttft_ms": 10632.0,
    "mean_tpot_ms": 141.41,
    "gsp_num_groups": 16,
    "gsp_prompts_per_group": 32,
    "gsp_system_prompt_len": 4096,
}


_KV004_BALANCING_THRASHES_PREFIXES_ROBIN: Row = {
    **_KV004_BALANCING_THRASHES_PREFIXES_ROW,
    "request_throughput": 5.47,
    "output_throughput": 1400.3,
    "mean_ttft_ms": 3511.0,
    "mean_tpot_ms": 31.81,
}


def kv004_balancing_thrashes_prefixes() -> Incident:
    flags = {"--load-balance-method": "total_tokens", "--mem-fraction-static": "0.82", "--trust-remote-code": "true"}
    server = Server("0.5.16", QWEN35_122B_FP8, H100, tp=8, dp=8, dp_attention=True, flags=flags, mamba_slots=96)
    scene = Scene("kv004-balancing-thrashes-prefixes", server, "2026-07-21T15:16:03")
    scene.start(load_s=71)
    sizes = (8, 9, 7, 8, 8, 9, 8, 7)
    loads = [
        Load((n,), 117, 4352, 256, cached_len=4096 if i == 5 else 0, prefill_ms_per_k=178) for i, n in enumerate(sizes)
    ]
    scene.serve(loads, 12)
    scene.leave_out_ramp()
    scene.serve(loads, 24, after_s=0)
    return Incident(
        "kv004-balancing-thrashes-prefixes",
        "Balancing by load spreads every prefix over every rank",
        "DP attention on 8 ranks, 16 groups of prompts that share 4,096 tokens each. We chose total_tokens balancing "
        "to be clever and got 1.36 req/s. Ranks look evenly loaded. What is wrong?",
        "reconstructed",
        stack(server, "8x NVIDIA H100 80 GB", "Qwen3.5-122B-A10B FP8"),
        ("kv-cache", "dp-attention", "prefix"),
        _KV004_BALANCING_THRASHES_PREFIXES,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(99, 498, 8)),
                topology__txt=topology(8, near="NV18", far="NV18"),
                loads__json=scene.loads(),
            )
        },
        files={
            "bench.jsonl": jsonl([_KV004_BALANCING_THRASHES_PREFIXES_ROW]),
            "relaunches.jsonl": jsonl(
                [relaunch(_KV004_BALANCING_THRASHES_PREFIXES_ROBIN, set_={"--load-balance-method": "round_robin"})]
            ),
        },
        stated=("16 groups of 32 prompts; within a group the first 4,096 tokens are the same.",),
    )


CASES = (
    kv004_radix_cache_off,
    kv004_balancing_thrashes_prefixes,
)
