"""CUDA graphs: off by flag, or outgrown."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import L40, PRO_6000
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_V4, QWEN25_05B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_CG001_V4_WITHOUT_GRAPHS = Answer(
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
)


_CG001_V4_WITHOUT_GRAPHS_AFTER: Row = {
    "tool": "bench_serving",
    "max_concurrency": 1,
    "output_throughput": 10.26,
    "mean_tpot_ms": 97.5,
    "mean_ttft_ms": 231.0,
    "random_input_len": 300,
    "random_output_len": 160,
}


def cg001_v4_without_graphs() -> Incident:
    flags = {"--disable-cuda-graph": "true", "--trust-remote-code": "true", "--mem-fraction-static": "0.85"}
    server = Server("0.5.12", DEEPSEEK_V4, PRO_6000, tp=8, flags=flags)
    scene = Scene("cg001-v4-without-graphs", server, "2026-05-03T07:36:12")
    refused = (
        "CustomAllreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this "
        "warning, specify disable_custom_all_reduce=True explicitly."
    )
    scene.start(load_s=174, at_init=(refused,))
    load = Load((1,), 229, 300, 160, graph=False, prefill_ms_per_k=900)
    scene.serve(load, 120)
    done = scene.serve_unseen(load, 90)
    return Incident(
        "cg001-v4-without-graphs",
        "Four tokens a second on eight large cards",
        "DeepSeek-V4 on 8x RTX PRO 6000: 4.36 tok/s for one user, TPOT around 230 ms. Eight Blackwell cards cannot "
        "be this slow.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "DeepSeek-V4-Flash"),
        ("cuda-graph", "tp", "sm120"),
        _CG001_V4_WITHOUT_GRAPHS,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(46, 121, 8, temperature_c=44)),
                topology__txt=topology(8, group=4),
                server_info__json=scene.info(),
            )
        },
        files={
            "bench.jsonl": jsonl([measured(done, load)]),
            "relaunches.jsonl": jsonl([relaunch(_CG001_V4_WITHOUT_GRAPHS_AFTER, unset=["--disable-cuda-graph"])]),
        },
    )


def _turn_ms(running: int) -> float:
    return 4.2 + 0.035 * running if running <= 32 else 11.2 + 0.07 * running


_CG002_ABOVE_THE_CEILING = Answer(
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
    note="Graphs end at 32; above it steps are eager and slow, so requests stay longer and the batch stays above 32. "
    "The batch is the consequence, not the load.",
    ref="sgl-project/sglang#33483, #33900 (ceiling 32, running median 67 against 23); steps and log rebuilt",
)


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
        _CG002_ABOVE_THE_CEILING,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(93, 141, 1), before_end_s=4, count=3))},
        files={
            "bench.jsonl": jsonl([now]),
            "relaunches.jsonl": jsonl([relaunch(wide, set_={"--cuda-graph-max-bs": "128"})]),
        },
    )


CASES = (
    cg001_v4_without_graphs,
    cg002_above_the_ceiling,
)
