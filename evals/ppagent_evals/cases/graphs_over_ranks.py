"""CUDA graphs where ranks have to agree."""

from ppagent_evals.writing.bench import Row, jsonl, relaunch
from ppagent_evals.writing.cards import GB200, H20_3E
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, QWEN3_NEXT
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_CG004_SUM_OVER_RANKS = Answer(
    "diagnosed",
    causes=("CG004",),
    also_accepted=("LB003", "CG002", "CP001"),
    must_not_support=("CG001", "CG003", "IC001", "IC005", "KV001", "KV002", "LB002", "PP001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(cuda_graph_max_bs="400..1024"),
        fix(moe_dense_tp_size="1"),
        fix(max_running_requests="128..256"),
    ),
    forbidden_changes=("--disable-cuda-graph",),
    evidence=("server.log",),
    note="0.4.7 compares the sum over ranks, 400, with the largest graph, 256, so every step is eager on all of "
    "them. A long dispatch is a wait for the rank that launches last.",
    ref="sgl-project/sglang#6669 (50 a rank, dispatch 4.6 ms then 0.42 ms); rule in 0.4.7 cuda_graph_runner.can_run",
)


_CG004_SUM_OVER_RANKS_ROWS: list[Row] = [
    {
        "tool": "bench_serving",
        "max_concurrency": 400,
        "output_throughput": 1231.4,
        "mean_tpot_ms": 324.9,
        "random_input_len": 180,
        "random_output_len": 500,
    }
]


def cg004_sum_over_ranks() -> Incident:
    flags = {
        "--enable-deepep-moe": "true",
        "--deepep-mode": "low_latency",
        "--disable-radix-cache": "true",
        "--mem-fraction-static": "0.8",
        "--attention-backend": "fa3",
        "--trust-remote-code": "true",
    }
    server = Server("0.4.7", DEEPSEEK_R1, H20_3E, tp=8, dp=8, ep=8, dp_attention=True, flags=flags)
    scene = Scene("cg004-sum-over-ranks", server, "2025-05-27T11:29:50")
    scene.start(load_s=206)
    loads = [Load((n,), 318, 180, 500, graph=False, prefill_ms_per_k=45) for n in (50, 49, 50, 50, 50, 51, 50, 50)]
    scene.serve(loads, 8)
    scene.leave_out_ramp()
    scene.serve(loads, 40, after_s=0)
    return Incident(
        "cg004-sum-over-ranks",
        "DP attention: each rank below the largest graph, all ranks without one",
        "R1 with DP attention and DeepEP, 50 requests on each of 8 ranks. Dispatch takes 4.6 ms a layer in the "
        "profile. Is DeepEP broken on our network? Graphs go up to 256 and we only run 50.",
        "reconstructed",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1"),
        ("cuda-graph", "dp-attention", "ep"),
        _CG004_SUM_OVER_RANKS,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(97, 204, 8)), topology__txt=topology(8, near="NV18", far="NV18")
            )
        },
        files={"bench.jsonl": jsonl(_CG004_SUM_OVER_RANKS_ROWS)},
        stated=("In a profile of one decode step, dispatch b takes 4,622 us while dispatch a takes 25 us.",),
    )


def _gb200(index: int) -> Scene:
    server = Server(
        "0.5.12",
        QWEN3_NEXT,
        GB200,
        tp=8,
        nnodes=2,
        node=index,
        mamba_slots=640,
        flags={"--mem-fraction-static": "0.8", "--trust-remote-code": "true"},
    )
    scene = Scene(f"cg005-two-node-deadlock-{index}", server, "2026-05-12T08:51:17")
    spans = "CustomAllreduce is disabled because this process group spans across nodes."
    scene.start(load_s=88, at_init=(spans,))
    if index == 0:
        scene.serve(Load((1,), 7.4, 300, 400, prefill_ms_per_k=12), 9)
        scene.serve(Load((32,), 11.8, 300, 400, prefill_ms_per_k=12, spread=0), 1.6, after_s=12)
    scene.log.at += 30
    for _ in range(6):
        scene.log.at += 60
        scene.log.line('INFO:     10.0.0.4:33310 - "GET /health HTTP/1.1" 503 Service Unavailable')
    return scene


_CG005_TWO_NODE_DEADLOCK = Answer(
    "diagnosed",
    causes=("CG005",),
    also_accepted=("IC005", "IC002"),
    must_not_support=("CG001", "CG002", "KV001", "KV002", "PP008", "HW004", "LB001"),
    ruled_out=("KV001",),
    fixes=(fix(disable_cuda_graph="true"), fix(cuda_graph_max_bs="1"), fix(cuda_graph_bs="1"), OPERATOR),
    forbidden_changes=("--attention-backend", "--watchdog-timeout"),
    evidence=("server.log", "relaunches.jsonl"),
    note="Decode lines end while 32 run. Eager decoding, or graphs for one request only, gets through: a captured "
    "all-reduce across the nodes never completes.",
    ref="sgl-project/sglang#24574; log rebuilt, the two work-arounds' figures made up at a fifth of the speed",
)


def cg005_two_node_deadlock() -> Incident:
    nodes = [_gb200(index) for index in range(2)]
    eager: Row = {"tool": "bench_serving", "max_concurrency": 32, "output_throughput": 548.0, "completed": 128}
    small: Row = {**eager, "output_throughput": 553.0}
    return Incident(
        "cg005-two-node-deadlock",
        "Two nodes stop within two seconds of a batch",
        "Qwen3-Next over 2x4 GB200. A single request works. 32 at once and everything stops after a second or two, "
        "no exception, no NCCL message, the log just ends. What is it?",
        "reconstructed",
        stack(nodes[0].server, "2 nodes x 4x NVIDIA GB200", "Qwen3-Next-80B-A3B"),
        ("cuda-graph", "multi-node", "hang"),
        _CG005_TWO_NODE_DEADLOCK,
        hosts={f"node{i}": scene.host() for i, scene in enumerate(nodes)},
        files={
            "relaunches.jsonl": jsonl(
                [
                    relaunch(eager, set_={"--disable-cuda-graph": "true"}),
                    relaunch(small, set_={"--cuda-graph-max-bs": "1"}),
                ]
            )
        },
    )


CASES = (
    cg004_sum_over_ranks,
    cg005_two_node_deadlock,
)
