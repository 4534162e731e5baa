"""Pipelines of an old loop, and where a pipeline is the wrong axis."""

from ppagent_evals.writing.bench import Row, jsonl, relaunch
from ppagent_evals.writing.cards import A100_40, H200
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_8B, QWEN3_235B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NVSWITCH = topology(8, near="NV18", far="NV18")


def _node(index: int) -> Scene:
    flags = {
        "--trust-remote-code": "true",
        "--disable-radix-cache": "true",
        "--mem-fraction-static": "0.9",
        "--cuda-graph-bs": "1 2 4 8 16 32 64 128 256 512 768 896 1024",
        "--max-running-requests": "512",
        "--chunked-prefill-size": "16384",
        "--context-length": "16384",
        "--attention-backend": "flashinfer",
        "--watchdog-timeout": "3600",
    }
    env = {"SGL_ENABLE_JIT_DEEPGEMM": "0"}
    server = Server("0.4.9", QWEN3_235B, H200, tp=8, pp=4, nnodes=4, node=index, flags=flags, env=env)
    scene = Scene(f"pp007-blocking-send-receive-{index}", server, "2025-07-11T06:14:40")
    scene.start(load_s=178)
    scene.serve(Load((32,) * 4, 46.2, 946, 951, prefill_ms_per_k=22, spread=0.08), 14)
    return scene


_PP007_BLOCKING_SEND_RECEIVE = Answer(
    "diagnosed",
    causes=("PP007",),
    also_accepted=("ME001", "PP004"),
    must_not_support=("PP001", "PP002", "PP003", "KV001", "KV002", "KV004", "CG001", "IC005"),
    ruled_out=("PP003", "KV001", "CG001"),
    fixes=(OPERATOR,),
    forbidden_changes=(
        "--pp-async-batch-depth",
        "--pp-max-micro-batch-size",
        "--disable-cuda-graph",
        "--tp-size",
    ),
    note="32 requests in each of four slots, graphs on, TP inside the node. The loop of 0.4.9 sends and receives in "
    "step with the host; the asynchronous loop came with 0.5.7. TTFT equals E2E since streaming was off.",
    ref="sgl-project/sglang#7979 (figures of the bench); log and samples rebuilt around them",
)


_PP007_BLOCKING_SEND_RECEIVE_ROW: Row = {
    "backend": "sglang",
    "dataset_name": "random-ids",
    "request_rate": "inf",
    "random_input_len": 1000,
    "random_output_len": 1000,
    "random_range_ratio": 0.9,
    "duration": 47.13,
    "completed": 128,
    "total_input_tokens": 121127,
    "total_output_tokens": 121703,
    "request_throughput": 2.72,
    "output_throughput": 2582.28,
    "input_throughput": 2570.06,
    "mean_e2e_latency_ms": 45690.4,
    "mean_ttft_ms": 45688.9,
    "mean_tpot_ms": 0.0,
    "mean_itl_ms": 0.0,
    "disable_stream": True,
}


def pp007_blocking_send_receive() -> Incident:
    nodes = [_node(index) for index in range(2)]
    hosts = {
        f"node{i}": scene.host(gpus__csv=scene.gpus(spread(99, 331, 8)), topology__txt=_NVSWITCH)
        for i, scene in enumerate(nodes)
    }
    return Incident(
        "pp007-blocking-send-receive",
        "TP8 x PP4 over four nodes with stages that wait for their own sends",
        "Four nodes, TP8 PP4, 128 prompts at once, about 2.6k output tok/s. All slots seem to be in use. What keeps "
        "the pipeline from being faster, and why is TTFT 45 s?",
        "reconstructed",
        stack(nodes[0].server, "4 nodes x 8x NVIDIA H200", "Qwen3-235B-A22B BF16"),
        ("pp", "multi-node", "version"),
        _PP007_BLOCKING_SEND_RECEIVE,
        hosts=hosts,
        files={"bench.jsonl": jsonl([_PP007_BLOCKING_SEND_RECEIVE_ROW])},
    )


_PP009_8B_OVER_EIGHT = Answer(
    "diagnosed",
    causes=("PP009",),
    also_accepted=("CP001", "PP007", "PP001"),
    must_not_support=("PP003", "KV001", "KV002", "CG001", "IC001", "HW001"),
    ruled_out=("CG001", "KV001"),
    fixes=(fix(unset=("--pp-size",)), fix(pp_size="1..2"), fix(dp_size="2..8")),
    forbidden_changes=("--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
    evidence=("server.log",),
    note="Four layers a stage are a millisecond of work; and the model fits one card. One replica on each card is "
    "the layout.",
    ref="vllm-project/vllm#11500 (both throughputs, 20-50 % utilisation), retold for SGLang; hardware made up",
)


_PP009_8B_OVER_EIGHT_PP8: Row = {
    "tool": "own script, offline batch",
    "max_concurrency": 32,
    "completed": 256,
    "duration": 29.89,
    "total_input_tokens": 114532,
    "total_output_tokens": 17517,
    "output_throughput": 586.03,
}


def pp009_8b_over_eight() -> Incident:
    server = Server("0.5.10", LLAMA_8B, A100_40, pp=8, flags={"--pp-max-micro-batch-size": "4"})
    scene = Scene("pp009-8b-over-eight", server, "2026-04-09T22:11:58")
    scene.start(load_s=9)
    load = Load((4,) * 8, 49.5, 447, 68, prefill_ms_per_k=20)
    scene.serve(load, 2.6)
    pp1: Row = {
        **_PP009_8B_OVER_EIGHT_PP8,
        "duration": 30.11,
        "total_input_tokens": 113632,
        "total_output_tokens": 17004,
        "output_throughput": 564.79,
    }
    return Incident(
        "pp009-8b-over-eight",
        "An 8B model over eight stages, no faster than on one card",
        "Llama 3.1 8B: one GPU gives 565 tok/s, eight GPUs with --pp-size 8 give 586. Utilisation is 20 to 50 %. "
        "Where do seven GPUs go?",
        "reconstructed",
        stack(server, "8x NVIDIA A100 40 GB", "Llama-3.1-8B"),
        ("pp", "parallel-axis"),
        _PP009_8B_OVER_EIGHT,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(
                    [Gpu(u, 96 + u) for u in (47, 33, 28, 24, 31, 22, 36, 41)], before_end_s=2.5, count=3
                ),
                topology__txt=topology(8, near="NV12", far="NV12"),
            )
        },
        files={
            "bench.jsonl": jsonl([_PP009_8B_OVER_EIGHT_PP8]),
            "relaunches.jsonl": jsonl([relaunch(pp1, unset=["--pp-size"])]),
        },
    )


CASES = (
    pp007_blocking_send_receive,
    pp009_8b_over_eight,
)
