"""Attention and expert kernels that do not suit the card."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import H100, PRO_6000
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_70B_FP8, MINIMAX_M25
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_OTHERS = ("CG001", "CG002", "KV001", "KV002", "PP001", "HW001", "HW002", "LB001")


_KR001_TRITON_ATTENTION_ON_HOPPER = Answer(
    "diagnosed",
    causes=("KR001",),
    must_not_support=(*_OTHERS, "IC001", "KR002", "CP001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(unset=("--attention-backend",)),
        fix(attention_backend="fa3"),
        fix(attention_backend="flashinfer"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("launch.txt", "relaunches.jsonl"),
    note="--attention-backend triton on Hopper, where SGLang itself would take fa3; with fa3 the same load measured "
    "612 tok/s.",
    ref="made up",
)


def kr001_triton_attention_on_hopper() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=2, flags={"--attention-backend": "triton"})
    scene = Scene("kr001-triton-attention-on-hopper", server, "2026-04-02T19:18:31")
    scene.start(load_s=52)
    load = Load((24,), 47.5, 3000, 600, prefill_ms_per_k=92)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 90)
    row = measured(done, load)
    after: Row = {**row, "output_throughput": 612.4, "mean_tpot_ms": 37.9, "mean_ttft_ms": 371.0}
    return Incident(
        "kr001-triton-attention-on-hopper",
        "An attention backend copied from another machine",
        "Our launch line came from a 4090 box. On two H100 with 3k contexts it works, but is 420 tok/s at 24 users "
        "all?",
        "synthetic",
        stack(server, "2x NVIDIA H100 80 GB", "Llama-3.3-70B FP8"),
        ("kernel", "attention"),
        _KR001_TRITON_ATTENTION_ON_HOPPER,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(99, 437, 2)), topology__txt=topology(2, near="NV18"))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(after, set_={"--attention-backend": "fa3"})]),
        },
    )


_KR002_UNTUNED_EXPERTS = Answer(
    "diagnosed",
    causes=("KR002",),
    also_accepted=("KR001", "KR003", "IC001", "IC003"),
    must_not_support=_OTHERS,
    ruled_out=("CG001", "KV001"),
    fixes=(fix(env={"SGLANG_MOE_CONFIG_DIR": "*"}), OPERATOR),
    forbidden_changes=(
        "--disable-cuda-graph",
        "--fp8-gemm-backend=deep_gemm",
        "--moe-runner-backend=deep_gemm",
    ),
    evidence=("server.log", "relaunches.jsonl"),
    note="The warning alone would prove nothing; here a tuned file measured 9.5 % more tokens and 14 % less TTFT.",
    ref="sgl-project/sglang#18870 (backends, warning) and #37498 (+9.5 %, 1938 -> 1673 ms on a sibling card)",
)


def kr002_untuned_experts() -> Incident:
    flags = {"--trust-remote-code": "true", "--moe-runner-backend": "triton", "--fp8-gemm-backend": "triton"}
    server = Server("0.5.8.post1", MINIMAX_M25, PRO_6000, tp=8, flags=flags)
    scene = Scene("kr002-untuned-experts", server, "2026-02-20T10:09:12")
    card = PRO_6000.name.replace(" ", "_")
    config = f"E=256,N=192,device_name={card},dtype=fp8_w8a8,block_shape=[128, 128].json"
    moe = (
        "Using default MoE kernel config. Performance might be sub-optimal! Config file not found at "
        f"/opt/sglang/srt/layers/moe/fused_moe_triton/configs/triton_3_5_1/{config}, you can create them with "
        "https://github.com/sgl-project/sglang/tree/main/benchmark/kernels/fused_moe_triton"
    )
    refused = nccl.ALLREDUCE_REFUSED.replace("CustomAllreduce", "Custom allreduce")
    scene.start(load_s=163, at_init=(refused,), notes=(moe,))
    load = Load((32,), 38.6, 1000, 500, prefill_ms_per_k=130)
    scene.serve(load, 22)
    row = measured(scene.serve_unseen(load, 90), load, p95_ttft_ms=1938.0)
    tuned: Row = {
        **row,
        "output_throughput": round(float(str(row["output_throughput"])) * 1.095, 1),
        "p95_ttft_ms": 1673.0,
    }
    return Incident(
        "kr002-untuned-experts",
        "A new card without a tuned file for its experts",
        "MiniMax-M2.5 on 8x RTX PRO 6000. The default FP8 backends crash, Triton works. There is a warning about a "
        "default MoE config, is it worth the tuning run? A colleague tuned it and put the result in a directory.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "MiniMax-M2.5 FP8"),
        ("kernel", "moe", "sm120"),
        _KR002_UNTUNED_EXPERTS,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(98, 231, 8)), topology__txt=topology(8, group=4))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(tuned, env={"SGLANG_MOE_CONFIG_DIR": "/etc/sglang/moe"})]),
        },
    )


CASES = (
    kr001_triton_attention_on_hopper,
    kr002_untuned_experts,
)
