"""The KV pool: full, and filled with what was computed before."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import A100_80, H100, H200
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.lines import Decode, decode_line
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_70B_FP8, QWEN3_32B, QWEN35_122B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server


def kv001_oversubscribed() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, H200, flags={"--context-length": "20480", "--enable-metrics": "true"})
    scene = Scene("kv001-oversubscribed", server, "2026-04-17T10:27:39")
    scene.start(load_s=44)
    load = Load((128,), 39, 800, 3000, prefill_ms_per_k=66, admit_by_kv=True, max_new=3000, spread=0)
    scene.serve(load, 42)
    scene.leave_out_ramp()
    scene.serve(load, 50, after_s=0)
    done = scene.serve_unseen(load, 120, scrape_every=40)
    return Incident(
        "kv001-oversubscribed",
        "Long prompts, and requests that are thrown out and computed again",
        "16k-token prompts, 32 at a time, one H200. Throughput is poor and the p99 of TPOT is terrible while the "
        "median looks fine.",
        "reconstructed",
        stack(server, "1x NVIDIA H200", "Llama-3.3-70B FP8"),
        ("kv-cache", "retraction"),
        Answer(
            "diagnosed",
            causes=("KV001",),
            also_accepted=("PR001", "KV004"),
            must_not_support=("KV002", "KV005", "CG001", "PP001", "IC001", "HW001", "LB001"),
            ruled_out=("KV002", "CG001"),
            fixes=(
                fix(kv_cache_dtype="fp8_e4m3"),
                fix(kv_cache_dtype="fp8_e5m2"),
                fix(max_running_requests="16..64"),
                fix(mem_fraction_static="0.9..0.97"),
                fix(schedule_conservativeness="1.1..4"),
                fix(tp_size="2..8"),
            ),
            forbidden_changes=("--disable-cuda-graph", "--max-running-requests=128..4096"),
            evidence=("server.log",),
            note="The pool holds about eleven of these requests; it sits at 0.9 and more, and requests are retracted "
            "and prefilled again.",
            ref="made up, after the effect in NVIDIA/TensorRT-LLM#16827; admission and retraction simulated by "
            "SGLang's rules",
        ),
        hosts={
            "node": scene.host(gpus__csv=scene.gpus(spread(99, 655, 1)), server_info__json=scene.info())
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load, p99_tpot_ms=1410.0, median_tpot_ms=41.2)])},
    )


_BEFORE = ((4, 2639104, 14336, 431.02, 3), (4, 2640768, 14592, 428.87, 3), (4, 2642688, 14592, 429.34, 3))
_AFTER = (
    (6, 2435072, 21504, 24.33, 0),
    (6, 2435328, 21760, 21.95, 0),
    (6, 2435584, 21760, 38.84, 0),
    (6, 2435840, 22016, 36.34, 0),
    (6, 2436096, 22016, 37.04, 0),
    (6, 2436352, 22272, 38.44, 0),
    (6, 2436608, 22272, 22.24, 0),
)


def _hybrid_line(scene: Scene, row: tuple[int, int, int, float, int]) -> None:
    running, full, window, speed, queue = row
    usage = (
        f"#full token: {full}, full token usage: {full / 2646784:.2f}, #swa token: {window}, "
        f"swa token usage: {window / 243200:.2f}, "
    )
    scene.log.line(decode_line(scene.server.version, Decode(running, usage, True, speed, queue)), Rank())


def kv001_hybrid_after_retraction() -> Incident:
    model = QWEN3_32B
    server = Server("0.5.12", model, H100, tp=4, flags={"--served-model-name": "hybrid-swa-chat"})
    scene = Scene("kv001-hybrid-after-retraction", server, "2026-05-24T03:39:08")
    for place, row in enumerate((_BEFORE * 8)[:22] + _AFTER):
        if place == 22:
            scene.log.line(
                "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_tokens_gained: 207616, "
                "#new_token_ratio: 0.0980 -> 0.7070",
                Rank(),
            )
        scene.log.at += 0.37 if place < 22 else scene.log.rng.uniform(5.2, 10.8)
        _hybrid_line(scene, row)
    artifacts = scene.host()
    del artifacts["model_config.json"]
    artifacts["launch.txt"] = server.launch().replace(model.path, "/models/hybrid-swa-chat") + "\n"
    return Incident(
        "kv001-hybrid-after-retraction",
        "Collapse after the pool of a sliding-window model was full once",
        "Four long agent sessions ran at 430 tok/s. Then the cache was full for a moment, and since then six "
        "sessions together get 20 to 38 tok/s. Nothing else changed.",
        "reconstructed",
        stack(server, "4x NVIDIA H100 80 GB", "a hybrid sliding-window model"),
        ("kv-cache", "retraction", "hybrid"),
        Answer(
            "diagnosed",
            causes=("KV001",),
            must_not_support=("KV002", "KV005", "CG001", "CG002", "PP001", "IC001", "HW001", "HW002", "LB001"),
            ruled_out=("CG001",),
            fixes=(
                fix(kv_cache_dtype="fp8_e4m3"),
                fix(max_running_requests="1..4"),
                fix(mem_fraction_static="*"),
                fix(schedule_conservativeness="*"),
                fix(swa_full_tokens_ratio="*"),
                fix(context_length="*"),
                OPERATOR,
            ),
            forbidden_changes=("--disable-cuda-graph",),
            evidence=("server.log",),
            note="The full-attention pool stood at 1.00, a request was retracted, and from there more requests run "
            "at a tenth of the speed. The event comes first, the low throughput after it.",
            ref="sgl-project/sglang#26248 (lines before and after); launch and hardware made up",
        ),
        hosts={"node": artifacts},
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
        Answer(
            "diagnosed",
            causes=("KV004",),
            also_accepted=("PR001",),
            must_not_support=("KV001", "KV002", "CG001", "PP001", "IC001", "HW001", "LB001"),
            ruled_out=("KV002", "CG001"),
            fixes=(fix(unset=("--disable-radix-cache",)),),
            forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
            evidence=("server.log", "launch.txt"),
            note="--disable-radix-cache is set and #cached-token is 0 on every line, though the prompts share 6000 "
            "tokens.",
            ref="made up",
        ),
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(99, 372, 2)), topology__txt=topology(2, near="NV12"))},
        files={
            "bench.jsonl": jsonl(
                [measured(done, load, dataset_name="generated-shared-prefix", gsp_system_prompt_len=6000)]
            )
        },
        stated=("Every request begins with the same 6,000 tokens.",),
    )


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
    row: Row = {
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
    robin: Row = {
        **row,
        "request_throughput": 5.47,
        "output_throughput": 1400.3,
        "mean_ttft_ms": 3511.0,
        "mean_tpot_ms": 31.81,
    }
    return Incident(
        "kv004-balancing-thrashes-prefixes",
        "Balancing by load spreads every prefix over every rank",
        "DP attention on 8 ranks, 16 groups of prompts that share 4,096 tokens each. We chose total_tokens balancing "
        "to be clever and got 1.36 req/s. Ranks look evenly loaded. What is wrong?",
        "reconstructed",
        stack(server, "8x NVIDIA H100 80 GB", "Qwen3.5-122B-A10B FP8"),
        ("kv-cache", "dp-attention", "prefix"),
        Answer(
            "diagnosed",
            causes=("KV004",),
            also_accepted=("LB002", "PR001"),
            must_not_support=("KV001", "KV002", "CG001", "PP001", "IC001", "HW001", "LB001"),
            ruled_out=("CG001",),
            fixes=(fix(load_balance_method="round_robin"), fix(unset=("--load-balance-method",)), OPERATOR),
            forbidden_changes=("--disable-cuda-graph", "--disable-radix-cache"),
            evidence=("server.log",),
            note="Nearly every prefill line has #cached-token: 0 though 4096 of 4352 tokens are shared: requests of "
            "one group land on all ranks and push each other out. Round robin measured four times the rate.",
            ref="sgl-project/sglang#31170 (rates and latencies of both methods); log rebuilt",
        ),
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(99, 498, 8)),
                topology__txt=topology(8, near="NV18", far="NV18"),
                loads__json=scene.loads(),
            )
        },
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(robin, set_={"--load-balance-method": "round_robin"})]),
        },
        stated=("16 groups of 32 prompts; within a group the first 4,096 tokens are the same.",),
    )


CASES = (kv001_oversubscribed, kv001_hybrid_after_retraction, kv004_radix_cache_off, kv004_balancing_thrashes_prefixes)
