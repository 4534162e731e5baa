"""CUDA graphs: off by flag, outgrown, blocked by a sum over ranks, or hanging."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import GB200, H20_3E, L40, PRO_6000
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, DEEPSEEK_V4, QWEN3_NEXT, QWEN25_05B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server


def cg001_v4_without_graphs() -> Incident:
    flags = {"--disable-cuda-graph": "true", "--trust-remote-code": "true", "--mem-fraction-static": "0.85"}
    server = Server("0.5.12", DEEPSEEK_V4, PRO_6000, tp=8, flags=flags)
    scene = Scene("cg001-v4-without-graphs", server, "2026-05-03T07:36:12")
    refused = (
        "CustomAllreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this "
        "warning, specify disable_custom_all_reduce=True explicitly."
    )
    scene.start(load_s=174, notes=(refused,))
    load = Load((1,), 229, 300, 160, graph=False, prefill_ms_per_k=900)
    scene.serve(load, 120)
    done = scene.serve_unseen(load, 90)
    after: Row = {
        "tool": "bench_serving",
        "max_concurrency": 1,
        "output_throughput": 10.26,
        "mean_tpot_ms": 97.5,
        "mean_ttft_ms": 231.0,
        "random_input_len": 300,
        "random_output_len": 160,
    }
    return Incident(
        "cg001-v4-without-graphs",
        "Four tokens a second on eight large cards",
        "DeepSeek-V4 on 8x RTX PRO 6000: 4.36 tok/s for one user, TPOT around 230 ms. Eight Blackwell cards cannot "
        "be this slow.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "DeepSeek-V4-Flash"),
        ("cuda-graph", "tp", "sm120"),
        Answer(
            "diagnosed",
            causes=("CG001",),
            also_accepted=("CP001", "IC001", "IC003", "KR001"),
            must_not_support=("PP001", "CG002", "CG005", "KV001", "KV002", "HW001", "HW002"),
            ruled_out=("CG002", "KV001"),
            fixes=(
                fix(unset=("--disable-cuda-graph",)),
                fix(cuda_graph_max_bs="1..256", unset=("--disable-cuda-graph",)),
            ),
            forbidden_changes=("--max-running-requests", "--mem-fraction-static"),
            evidence=("server.log", "launch.txt"),
            note="Graphs are off by flag and every decode line says so; with them the same server gave 10.26 tok/s. "
            "All-reduce over PCIe takes its share as well.",
            ref="sgl-project/sglang#24047 (4.36 and 10.26 tok/s); log and samples rebuilt",
        ),
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(46, 121, 8, temperature_c=44)),
                topology__txt=topology(8, group=4),
                server_info__json=scene.info(),
            )
        },
        files={
            "bench.jsonl": jsonl([measured(done, load)]),
            "relaunches.jsonl": jsonl([relaunch(after, unset=["--disable-cuda-graph"])]),
        },
    )


def _turn_ms(running: int) -> float:
    return 4.2 + 0.035 * running if running <= 32 else 11.2 + 0.07 * running


def cg002_above_the_ceiling() -> Incident:
    server = Server("0.5.18", QWEN25_05B, L40, flags={"--decode-log-interval": "10"})
    scene = Scene("cg002-above-the-ceiling", server, "2026-08-12T17:04:29")
    scene.start(load_s=4)
    for place, running in enumerate((21, 24, 29, 47, 68, 63, 96, 71, 66)):
        load = Load(
            (running,), 0, 96, 130, turn_by_running=_turn_ms, graph=lambda n: n <= 32, prefill_ms_per_k=3, jitter=0.004
        )
        scene.serve(load, 0.5, after_s=0 if place else 9, carry_on=place > 0)
    wide: Row = {
        "tool": "own open-loop client",
        "request_rate": 32,
        "output_throughput": 4148.0,
        "mean_tpot_ms": 5.6,
        "concurrency": 24.1,
    }
    now: Row = {**wide, "output_throughput": 4139.5, "mean_tpot_ms": 15.9, "concurrency": 67.4}
    return Incident(
        "cg002-above-the-ceiling",
        "Latency tripled after a burst and never came back",
        "Constant 32 requests/s on one L40. TPOT was 5 ms all morning, then there was a short burst and since then "
        "it stays at 16 ms although the rate is the same. Throughput and queue look normal.",
        "reconstructed",
        stack(server, "1x NVIDIA L40 48 GB", "Qwen2.5-0.5B"),
        ("cuda-graph", "bistable"),
        Answer(
            "diagnosed",
            causes=("CG002",),
            must_not_support=("CG001", "CG003", "KV001", "KV002", "LB001", "HW001", "HW002", "CP001", "PP001"),
            ruled_out=("CG001", "KV001", "KV002"),
            fixes=(
                fix(cuda_graph_max_bs="64..4096"),
                fix(cuda_graph_max_bs_decode="64..4096"),
                fix(max_running_requests="16..32"),
            ),
            forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness"),
            evidence=("server.log",),
            note="Graphs end at 32; above it steps are eager and slow, so requests stay longer and the batch stays "
            "above 32. The batch is the consequence, not the load.",
            ref="sgl-project/sglang#33483, #33900 (ceiling 32, running median 67 against 23); steps and log rebuilt",
        ),
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(93, 141, 1), before_end_s=4, count=3))},
        files={
            "bench.jsonl": jsonl([now]),
            "relaunches.jsonl": jsonl([relaunch(wide, set_={"--cuda-graph-max-bs": "128"})]),
        },
    )


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
    rows: list[Row] = [
        {
            "tool": "bench_serving",
            "max_concurrency": 400,
            "output_throughput": 1231.4,
            "mean_tpot_ms": 324.9,
            "random_input_len": 180,
            "random_output_len": 500,
        }
    ]
    return Incident(
        "cg004-sum-over-ranks",
        "DP attention: each rank below the largest graph, all ranks without one",
        "R1 with DP attention and DeepEP, 50 requests on each of 8 ranks. Dispatch takes 4.6 ms a layer in the "
        "profile. Is DeepEP broken on our network? Graphs go up to 256 and we only run 50.",
        "reconstructed",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1"),
        ("cuda-graph", "dp-attention", "ep"),
        Answer(
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
            note="0.4.7 compares the sum over ranks, 400, with the largest graph, 256, so every step is eager on all "
            "of them. A long dispatch is a wait for the rank that launches last.",
            ref="sgl-project/sglang#6669 (50 a rank, dispatch 4.6 ms then 0.42 ms); rule in 0.4.7 "
            "cuda_graph_runner.can_run",
        ),
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(97, 204, 8)), topology__txt=topology(8, near="NV18", far="NV18")
            )
        },
        files={"bench.jsonl": jsonl(rows)},
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
    scene.start(load_s=88, notes=(spans,))
    if index == 0:
        scene.serve(Load((1,), 7.4, 300, 400, prefill_ms_per_k=12), 9)
        scene.serve(Load((32,), 11.8, 300, 400, prefill_ms_per_k=12, spread=0), 1.6, after_s=12)
    scene.log.at += 30
    for _ in range(6):
        scene.log.at += 60
        scene.log.line('INFO:     10.0.0.4:33310 - "GET /health HTTP/1.1" 503 Service Unavailable')
    return scene


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
        Answer(
            "diagnosed",
            causes=("CG005",),
            also_accepted=("IC005", "IC002"),
            must_not_support=("CG001", "CG002", "KV001", "KV002", "PP008", "HW004", "LB001"),
            ruled_out=("KV001",),
            fixes=(fix(disable_cuda_graph="true"), fix(cuda_graph_max_bs="1"), fix(cuda_graph_bs="1"), OPERATOR),
            forbidden_changes=("--attention-backend", "--watchdog-timeout"),
            evidence=("server.log", "relaunches.jsonl"),
            note="Decode lines end while 32 run. Eager decoding, or graphs for one request only, gets through: a "
            "captured all-reduce across the nodes never completes.",
            ref="sgl-project/sglang#24574; log rebuilt, the two work-arounds' figures made up at a fifth of the speed",
        ),
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


CASES = (cg001_v4_without_graphs, cg002_above_the_ceiling, cg004_sum_over_ranks, cg005_two_node_deadlock)
