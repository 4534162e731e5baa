"""Servers whose log alone does not tell, beside a profiler trace that does."""

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import L40, PRO_6000
from ppagent_evals.writing.gpus import topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import QWEN3_32B, QWEN25_05B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server
from ppagent_evals.writing.traces import Ring, traces

_CG002_TRACED = Answer(
    "diagnosed",
    causes=("CG002",),
    must_not_support=("CG001", "CG003", "CG005", "KV001", "KV002", "LB001", "PP001", "HW001"),
    ruled_out=("CG001",),
    fixes=(fix(cuda_graph_max_bs="64..4096"), fix(cuda_graph_max_bs_decode="64..4096")),
    forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness", "--mem-fraction-static"),
    evidence=("traces/1784283420.25-TP-0.trace.json.gz",),
    note="The log is of a quiet morning: batches up to 29, all from graphs, captured up to 32. The trace of the busy "
    "hour shows decode forwards of 48 to 61 requests, each kernel launched by itself.",
    ref="made up; batches and ceiling after sgl-project/sglang#33483",
)


def cg002_only_in_the_trace() -> Incident:
    server = Server("0.5.18", QWEN25_05B, L40, flags={"--decode-log-interval": "10"})
    scene = Scene("cg002-only-in-the-trace", server, "2026-07-17T08:02:11")
    scene.start(load_s=4)
    for place, running in enumerate((18, 22, 27, 25, 29, 24)):
        load = Load((running,), 4.9, 96, 130, prefill_ms_per_k=3, jitter=0.004)
        scene.serve(load, 0.5, after_s=0 if place else 9, carry_on=place > 0)
    ring = Ring(
        (8.6,), filled=1, steps=14, version="0.5.18", batches=(48, 52, 61, 57), graph=False, kernels=110, launch_us=9.0,
        scheduling_ms=0.4, profile="1784283420.25", card="NVIDIA L40",
    )  # fmt: skip
    return Incident(
        "cg002-only-in-the-trace",
        "The log is fine, the busy hour is not",
        "In the morning a token takes 5 ms. At noon, with twice the users, it takes 14 to 16 ms, and it does not come "
        "back until the evening. The log that we kept says cuda graph: True on every line. The trace is from noon.",
        "synthetic",
        stack(server, "1x NVIDIA L40 48 GB", "Qwen2.5-0.5B"),
        ("cuda-graph", "trace"),
        _CG002_TRACED,
        hosts={"box": scene.host() | _placed(ring)},
    )


_PP004_TRACED = Answer(
    "diagnosed",
    causes=("PP004",),
    also_accepted=("HW003",),
    must_not_support=("PP001", "PP002", "PP003", "PP007", "KV001", "CG001", "CP001", "HW001"),
    ruled_out=("PP001", "CG001", "PP007"),
    fixes=(fix(env={"SGLANG_PP_LAYER_PARTITION": "*"}), OPERATOR),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
    evidence=("traces/1784290000.5-TP-0-PP-0.trace.json.gz",),
    note="Layers, weights and slots are even, and nothing of the log tells the stages apart. In the traces the third "
    "stage computes 24 ms a forward and is never idle, the others 11 ms, and spin in their receives for the rest.",
    ref="made up: 16 layers each, one card at less than half the speed of its neighbours",
)


def pp004_slow_in_the_trace() -> Incident:
    flags = {"--pp-max-micro-batch-size": "8", "--max-total-tokens": "260000"}
    server = Server("0.5.12", QWEN3_32B, PRO_6000, pp=4, flags=flags)
    scene = Scene("pp004-slow-in-the-trace", server, "2026-07-17T09:40:25")
    scene.start(load_s=57)
    load = Load((8,) * 4, 98.0, 500, 700, prefill_ms_per_k=48)
    scene.serve(load, 15)
    done = scene.serve_unseen(load, 90)
    ring = Ring(
        (10.9, 10.8, 24.3, 11.4), filled=4, steps=24, version="0.5.12", batches=(8,), kernels=20, scheduling_ms=0.25,
        profile="1784290000.5",
    )  # fmt: skip
    return Incident(
        "pp004-slow-in-the-trace",
        "Four equal cards, four equal stages, half the speed",
        "Qwen3-32B over four cards, 32 users, 8 in each micro-batch. It ran at 600 tok/s on the old host and gives "
        "326 here. I took a profile with everybody on it; the merged file shows only one rank.",
        "synthetic",
        stack(server, "4x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Qwen3-32B"),
        ("pp", "hardware", "trace"),
        _PP004_TRACED,
        hosts={
            "node": scene.host(topology__txt=topology(4, near="PHB"), server_info__json=scene.info()) | _placed(ring)
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


def _placed(ring: Ring) -> dict[str, str]:
    return {f"traces/{name}": text for name, text in traces(ring).items()}


CASES = (
    cg002_only_in_the_trace,
    pp004_slow_in_the_trace,
)
