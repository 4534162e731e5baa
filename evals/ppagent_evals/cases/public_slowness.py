"""Slow servers as people report them in public, with what they measured before and after the change that cured them."""

from ppagent_evals.writing.bench import Row, jsonl
from ppagent_evals.writing.cards import RTX_5090
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import QWEN3_06B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_CEILING = 48
"""Largest captured decode batch on a card of 32 GB by default (0.5.20)."""

_CG002_GRAPHS_END_AT_48 = Answer(
    "diagnosed",
    causes=("CG002",),
    must_not_support=("CG001", "CG003", "KV001", "KV002", "LB001", "PR001", "KR001", "CP001", "PP001", "ME001"),
    ruled_out=("CG001", "KV001", "KV002"),
    fixes=(fix(cuda_graph_max_bs_decode="72..4096"), fix(max_running_requests="32..48")),
    forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness", "--attention-backend"),
    evidence=("server.log",),
    note="The card's default ends the graphs at 48, and at this rate about 70 run. With graphs to 128 the reporter "
    "measured a median TPOT of 2.64 ms for 5.44 to 5.51, and no eager decode.",
    ref="sgl-project/sglang#40346 (measured before and after); log rebuilt",
)


def _turn_ms(running: int) -> float:
    return 2.0 + 0.016 * running if running <= _CEILING else 4.4 + 0.015 * running


def cg002_graphs_end_at_48() -> Incident:
    server = Server("0.5.20", QWEN3_06B, RTX_5090, flags={"--mem-fraction-static": "0.28"})
    scene = Scene("cg002-graphs-end-at-48", server, "2026-09-18T14:20:11")
    scene.start(load_s=3)
    for place, running in enumerate((34, 46, 57, 66, 71, 69, 74, 70)):
        load = Load(
            (running,), 0, 128, 256, turn_by_running=_turn_ms, graph=lambda n: n <= _CEILING, prefill_ms_per_k=4
        )
        scene.serve(load, 2.0, after_s=0 if place else 6, carry_on=place > 0)
    measured: Row = {
        "tool": "bench_serving",
        "dataset_name": "random-ids",
        "request_rate": 50,
        "completed": 1000,
        "random_input_len": 128,
        "random_output_len": 256,
        "output_throughput": 6350.0,
        "mean_tpot_ms": 5.47,
        "median_tpot_ms": 5.46,
        "concurrency": 70.2,
    }
    return Incident(
        "cg002-graphs-end-at-48",
        "Twice the time per token at 50 requests a second on one 5090",
        "Qwen3-0.6B on one RTX 5090. At 50 req/s bench_serving says 5.5 ms per token, a lower rate gives less than 3. "
        "Nothing queues and the KV cache is nearly empty. What is it doing?",
        "reconstructed",
        stack(server, "1x NVIDIA GeForce RTX 5090 32 GB", "Qwen3-0.6B"),
        ("cuda-graph", "blackwell"),
        _CG002_GRAPHS_END_AT_48,
        hosts={"box": scene.host(gpus__csv=scene.gpus(spread(88, 214, 1), before_end_s=6, count=4))},
        files={"bench.jsonl": jsonl([measured])},
    )


CASES = (cg002_graphs_end_at_48,)
