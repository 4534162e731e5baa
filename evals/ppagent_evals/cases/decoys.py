"""Decoy flags, scary but harmless lines, and a setting that did not take."""

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import L40S
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import QWEN3_8B, QWEN3_30B_FP8, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_DECOY_FLAGS = Answer(
    "diagnosed",
    causes=("KV002",),
    also_accepted=("PP003",),
    must_not_support=("KV001", "KV004", "KV005", "PP001", "PP002", "CG001", "IC001"),
    ruled_out=("KV001", "PP001", "CG001"),
    fixes=(fix(max_running_requests="16..4096"), fix(unset=("--max-running-requests",))),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log", "launch.txt"),
    note="max_running_requests 8 allows 8 // 4 = 2 in each slot; 24 wait with 1 % of the pool in use. Prompts share "
    "nothing, so the radix cache does not matter here.",
    ref="made up",
)


def decoy_flags() -> Incident:
    flags = {
        "--max-running-requests": "8",
        "--disable-radix-cache": "true",
        "--schedule-conservativeness": "1.2",
        "--stream-interval": "4",
    }
    server = Server("0.5.10", QWEN3_32B, L40S, pp=4, flags=flags)
    scene = Scene("decoy-flags", server, "2026-04-14T16:22:08")
    scene.start(load_s=60)
    load = Load((2,) * 4, 74, 300, 350, offered=32, prefill_ms_per_k=52)
    scene.serve(load, 13)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "decoy-flags",
        "Several unusual flags, one of which matters",
        "Somebody tuned this before me. 32 clients with unrelated random prompts, and most of them wait. Which of "
        "these flags hurts?",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Qwen3-32B"),
        ("pp", "admission", "decoy"),
        _DECOY_FLAGS,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(88, 221, 4)), server_info__json=scene.info())},
        files={"bench.jsonl": jsonl([measured(done, load, dataset_name="random-ids")])},
    )


_HARMLESS_WARNINGS = Answer(
    "healthy",
    also_accepted=("LB001",),
    must_not_support=("KR002", "CG001", "CG003", "PP001", "PP003", "CP001", "IC003"),
    ruled_out=("CG001", "PP001"),
    forbidden_changes=(
        "--disable-cuda-graph",
        "--enforce-piecewise-cuda-graph",
        "--moe-runner-backend",
        "--pp-async-batch-depth",
    ),
    evidence=("server.log",),
    note="Decode lines say `cuda graph: True`; `False` stands on prefill lines only, which is normal under a "
    "pipeline. A default MoE config by itself proves nothing.",
    ref="made up",
)


def harmless_warnings() -> Incident:
    config = "E=128,N=768,device_name=NVIDIA_L40S,dtype=fp8_w8a8,block_shape=[128, 128].json"
    moe = (
        "Using default MoE kernel config. Performance might be sub-optimal! Config file not found at "
        f"/opt/sglang/srt/layers/moe/fused_moe_triton/configs/triton_3_5_1/{config}, you can create them with "
        "https://github.com/sgl-project/sglang/tree/main/benchmark/kernels/fused_moe_triton"
    )
    server = Server("0.5.11", QWEN3_30B_FP8, L40S, pp=2, flags={"--pp-max-micro-batch-size": "24"})
    scene = Scene("harmless-warnings", server, "2026-05-05T13:48:19")
    scene.start(load_s=31, warnings=("`torch_dtype` is deprecated! Use `dtype` instead!",), notes=(moe,))
    load = Load((24, 24), 35.5, 500, 600, prefill_ms_per_k=31)
    scene.serve(load, 15)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "harmless-warnings",
        "A log full of warnings over a server that is well",
        "The log is full of warnings: default MoE kernel config, piecewise CUDA graph disabled, `cuda graph: False`, "
        "overlap schedule incompatible. Which of them is costing me throughput?",
        "synthetic",
        stack(server, "2x NVIDIA L40S 48 GB", "Qwen3-30B-A3B FP8"),
        ("control", "pp", "healthy"),
        _HARMLESS_WARNINGS,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(96, 262, 2)), server_info__json=scene.info())},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_BACKEND_SWITCHES_GRAPHS_OFF = Answer(
    "diagnosed",
    causes=("CG003",),
    also_accepted=("KR001", "CP001"),
    must_not_support=("CG001", "CG002", "CG005", "KV001", "KV002", "HW001"),
    ruled_out=("CG002", "KV001"),
    fixes=(
        fix(unset=("--attention-backend",)),
        fix(attention_backend="flashinfer"),
        fix(attention_backend="triton"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests", "--cuda-graph-max-bs"),
    evidence=("server.log",),
    note="flex_attention switches decode graphs off at start; the resolved arguments say disable_cuda_graph=True "
    "though nobody asked for it.",
    ref="made up; the rule is in sglang 0.5.8 server_args.py",
)


def backend_switches_graphs_off() -> Incident:
    flags = {"--attention-backend": "flex_attention", "--cuda-graph-max-bs": "64"}
    server = Server("0.5.8", QWEN3_8B, L40S, flags=flags, graphs_off=True)
    scene = Scene("backend-switches-graphs-off", server, "2026-02-17T19:33:52")
    scene.start(load_s=14, warnings=("Cuda graph is disabled because of using torch Flex Attention backend",))
    load = Load((16,), 52, 300, 400, graph=False, prefill_ms_per_k=28)
    scene.serve(load, 24)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "backend-switches-graphs-off",
        "CUDA graphs were asked for and are not there",
        "I set --cuda-graph-max-bs 64 so graphs are on, but decode is half of what a friend gets on the same card.",
        "synthetic",
        stack(server, "1x NVIDIA L40S 48 GB", "Qwen3-8B"),
        ("cuda-graph", "requested-not-effective"),
        _BACKEND_SWITCHES_GRAPHS_OFF,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(71, 188, 1)), server_info__json=scene.info())},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


CASES = (
    decoy_flags,
    harmless_warnings,
    backend_switches_graphs_off,
)
