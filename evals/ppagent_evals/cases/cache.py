"""The KV pool when it is full."""

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import H100, H200
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.lines import Decode, decode_line
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_70B_FP8, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

_KV001_OVERSUBSCRIBED = Answer(
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
    note="The pool holds about fifty of these requests at their full length and a hundred are let in, so it fills up "
    "again and again and requests are retracted and prefilled once more.",
    ref="made up, after the effect in NVIDIA/TensorRT-LLM#16827; admission and retraction simulated by SGLang's rules",
)


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
        "Requests that are thrown out of the cache and computed again",
        "Short prompts with answers of 3000 tokens, 128 at a time, one H200. Throughput sinks from minute to minute "
        "and the p99 of TPOT is terrible while the median looks fine.",
        "synthetic",
        stack(server, "1x NVIDIA H200", "Llama-3.3-70B FP8"),
        ("kv-cache", "retraction"),
        _KV001_OVERSUBSCRIBED,
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


_KV001_HYBRID_AFTER_RETRACTION = Answer(
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
    note="The full-attention pool stood at 1.00, a request was retracted, and from there more requests run at a "
    "tenth of the speed. The event comes first, the low throughput after it.",
    ref="sgl-project/sglang#26248 (lines before and after); launch and hardware made up",
)


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
        _KV001_HYBRID_AFTER_RETRACTION,
        hosts={"node": artifacts},
    )


CASES = (
    kv001_oversubscribed,
    kv001_hybrid_after_retraction,
)
