"""Narrow formats that take a slow path."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import PRO_6000
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import KIMI_K25, QWEN3_30B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_OTHERS = ("CG001", "CG002", "KV001", "KV002", "PP001", "HW001", "HW002", "LB001")


_KR003_FP8_CACHE_ON_INT4 = Answer(
    "diagnosed",
    causes=("KR003",),
    also_accepted=("KR001", "IC001", "IC003"),
    must_not_support=_OTHERS,
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(unset=("--kv-cache-dtype",)),
        fix(kv_cache_dtype="auto"),
        fix(kv_cache_dtype="bfloat16"),
        fix(kv_cache_dtype="bf16"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("launch.txt", "relaunches.jsonl"),
    note="With a BF16 cache the same server gave 88 tok/s: the FP8 cache takes a slow attention path on this card.",
    ref="rtx6kpro wiki, Kimi K2.5 page (16 against 73-90 tok/s); log rebuilt",
)


_KR003_FP8_CACHE_ON_INT4_FLAGS = {
    "--kv-cache-dtype": "fp8_e4m3",
    "--mem-fraction-static": "0.94",
    "--attention-backend": "flashinfer",
    "--chunked-prefill-size": "8092",
    "--cuda-graph-max-bs": "16",
    "--trust-remote-code": "true",
    "--context-length": "170000",
}


def kr003_fp8_cache_on_int4() -> Incident:
    env = {"NCCL_P2P_LEVEL": "4", "SGL_ENABLE_JIT_DEEPGEMM": "0"}
    server = Server("0.5.8", KIMI_K25, PRO_6000, tp=8, flags=_KR003_FP8_CACHE_ON_INT4_FLAGS, env=env)
    scene = Scene("kr003-fp8-cache-on-int4", server, "2026-03-05T22:37:46")
    scene.start(load_s=407, at_init=(nccl.ALLREDUCE_REFUSED.replace("CustomAllreduce", "Custom allreduce"),))
    load = Load((1,), 62.4, 800, 400, prefill_ms_per_k=210)
    scene.serve(load, 34)
    row = measured(scene.serve_unseen(load, 60), load)
    after: Row = {"tool": "own chat client", "max_concurrency": 1, "output_throughput": 88.0, "mean_tpot_ms": 11.3}
    return Incident(
        "kr003-fp8-cache-on-int4",
        "FP8 cache on a 4-bit checkpoint",
        "Kimi K2.5 INT4, TP8 on RTX PRO 6000, with an FP8 KV cache to get more context: 16 tok/s. Others write 90. "
        "Graphs are on, power is low.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Kimi K2.5 INT4"),
        ("kernel", "quantisation", "sm120"),
        _KR003_FP8_CACHE_ON_INT4,
        hosts={
            "node": scene.host(gpus__csv=scene.gpus(spread(99, 168, 8)), topology__txt=topology(8, near="PIX", group=2))
        },
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(after, set_={"--kv-cache-dtype": "bfloat16"})]),
        },
    )


_KR003_FP8_WEIGHTS_ON_SM120 = Answer(
    "diagnosed",
    causes=("KR003",),
    also_accepted=("KR001", "KR002", "PR001", "IC001"),
    must_not_support=("CG001", "KV001", "KV002", "PP001", "PP006", "HW001", "HW002", "LB001"),
    ruled_out=("KV001",),
    fixes=(fix(env={"SGLANG_SUPPORT_CUTLASS_BLOCK_FP8": "1"}),),
    forbidden_changes=("--disable-cuda-graph", "--chunked-prefill-size=-1"),
    evidence=("relaunches.jsonl",),
    note="The block FP8 multiplication takes a slow path on SM120; with the CUTLASS one the same run took half the "
    "time.",
    ref="sgl-project/sglang#9969 (2,010.77 and 4,120.86 input tok/s); log rebuilt",
)


def kr003_fp8_weights_on_sm120() -> Incident:
    server = Server("0.5.3", QWEN3_30B_FP8, PRO_6000, tp=2)
    scene = Scene("kr003-fp8-weights-on-sm120", server, "2025-10-02T13:51:39")
    scene.start(load_s=21)
    load = Load((64,), 30, 1024, 2, prefill_ms_per_k=480, spread=0)
    scene.serve(load, 40)
    row: Row = {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": "inf",
        "random_input_len": 1024,
        "random_output_len": 1,
        "completed": 128,
        "duration": 65.19,
        "total_input_tokens": 131072,
        "input_throughput": 2010.77,
        "output_throughput": 1.96,
    }
    after: Row = {**row, "duration": 31.81, "input_throughput": 4120.86, "output_throughput": 4.02}
    return Incident(
        "kr003-fp8-weights-on-sm120",
        "Prefill of an FP8 model at two thousand tokens a second",
        "Qwen3-30B-A3B FP8, TP2, 128 prompts of 1024 tokens with one output token: 65 s, 2,011 input tok/s. A "
        "3B-active model on two RTX PRO 6000 should do far more. GPUs are at 100 %.",
        "reconstructed",
        stack(server, "2x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Qwen3-30B-A3B FP8"),
        ("kernel", "quantisation", "prefill", "sm120"),
        _KR003_FP8_WEIGHTS_ON_SM120,
        hosts={"ws": scene.host(gpus__csv=scene.gpus(spread(100, 318, 2)), topology__txt=topology(2, near="PHB"))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(after, env={"SGLANG_SUPPORT_CUTLASS_BLOCK_FP8": "1"})]),
        },
    )


CASES = (
    kr003_fp8_cache_on_int4,
    kr003_fp8_weights_on_sm120,
)
