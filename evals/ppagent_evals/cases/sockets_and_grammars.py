"""Unbound ranks, and grammars that cost more than the model."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import L40S
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.machine import commands, host, processes
from ppagent_evals.writing.models import QWEN3_8B, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_TIMER = {"SGLANG_ENABLE_METRICS_DEVICE_TIMER": "1"}


_WANDERING = (
    (59, (71, 58, 83, 62, 79, 55, 88, 64)),
    (93, (60, 92, 57, 51, 61, 55, 59, 54)),
    (67, (84, 61, 66, 88, 57, 69, 74, 58)),
    (98, (52, 49, 93, 55, 51, 58, 50, 54)),
    (62, (75, 80, 62, 70, 84, 60, 77, 72)),
    (89, (55, 51, 60, 53, 57, 94, 52, 58)),
)
"""A turn in ms and the occupancy of the stages, stretch after stretch."""


_CP003_WRONG_SOCKETS = Answer(
    "diagnosed",
    causes=("CP003",),
    also_accepted=("CP001", "PP007"),
    must_not_support=("PP001", "PP003", "PP004", "CG001", "KV001", "HW001", "HW002", "IC004"),
    ruled_out=("CG001", "KV001", "PP003"),
    fixes=(fix(numa_node="*"), fix(env={"SGLANG_AUTO_NUMA_BIND": "*"}), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
    evidence=("host.json",),
    note="No scheduler is bound (affinity 0-255) and several run on the other socket than their card; the slow stage "
    "changes all the time. --numa-node, one node for each rank, binds them.",
    ref="made up",
)


def cp003_wrong_sockets() -> Incident:
    server = Server("0.5.12", QWEN3_32B, L40S, pp=8, env=_TIMER, flags={"--pp-max-micro-batch-size": "8"})
    scene = Scene("cp003-wrong-sockets", server, "2026-06-17T08:58:21")
    scene.start(load_s=66)
    for place, (turn_ms, occupancy) in enumerate(_WANDERING):
        load = Load((8,) * 8, turn_ms, 400, 900, prefill_ms_per_k=40, jitter=0.1, occupancy=occupancy)
        scene.serve(load, 0.9, after_s=0 if place else 9, carry_on=place > 0)
    load = Load((8,) * 8, 73, 400, 900, prefill_ms_per_k=40, jitter=0.25, occupancy=(70,) * 8)
    done = scene.serve_unseen(load, 60, after_s=3)
    affinity = "".join(f"pid {3100 + n}'s current affinity list: 0-255\n" for n in range(8))
    on_cpu = "  PID PSR COMMAND\n" + "".join(
        f" {3100 + n} {psr:3} sglang::scheduler_PP{n}\n" for n, psr in enumerate((201, 77, 12, 233, 41, 9, 118, 30))
    )
    return Incident(
        "cp003-wrong-sockets",
        "Jitter that wanders from stage to stage",
        "PP8 on a two-socket box. Throughput swings between 650 and 1100 tok/s from line to line, and every time I "
        "look a different stage is the slow one. Layers are even, cards are cool.",
        "synthetic",
        stack(server, "8x NVIDIA L40S 48 GB", "Qwen3-32B"),
        ("cpu", "numa", "pp"),
        _CP003_WRONG_SOCKETS,
        hosts={
            "box": scene.host(
                gpus__csv=scene.gpus(spread(84, 214, 8)),
                topology__txt=topology(8, group=4),
                host__json=host("AMD EPYC 9554 64-Core Processor", cores=128, load_average=9.7, governor="schedutil"),
                processes__json=processes(server, [71.0, 64.5, 80.1, 69.9, 77.2, 61.8, 84.0, 66.3]),
                commands__jsonl=commands(
                    [
                        (["taskset", "-pc", "3100-3107"], affinity),
                        (["ps", "-o", "pid,psr,comm"], on_cpu),
                    ]
                ),
            )
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_CP004_OUTLINES = Answer(
    "diagnosed",
    causes=("CP004",),
    also_accepted=("CP001",),
    must_not_support=("CG001", "KV001", "KV002", "HW001", "PP001", "IC001", "LB001", "KR001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(grammar_backend="xgrammar"),
        fix(grammar_backend="llguidance"),
        fix(unset=("--grammar-backend",)),
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("launch.txt", "relaunches.jsonl"),
    note="Requests wait in the grammar queue, a compilation takes more than two seconds, and only requests with a "
    "schema are slow. xgrammar measured 452 tok/s on the same requests.",
    ref="made up, after the lead sgl-project/sglang#5636 (60 -> 1-3 tok/s with a grammar)",
)


def cp004_outlines() -> Incident:
    flags = {"--grammar-backend": "outlines", "--enable-metrics": "true"}
    server = Server("0.5.10", QWEN3_8B, L40S, flags=flags)
    scene = Scene("cp004-outlines", server, "2026-04-30T16:11:28")
    scene.start(load_s=12)
    load = Load((8,), 330, 400, 120, prefill_ms_per_k=30, jitter=0.2)
    scene.schedulers[0].counters.grammar = (5.0, 41, 96.2)
    scene.serve(load, 90)
    done = scene.serve_unseen(load, 80, scrape_every=25)
    after: Row = {"tool": "own client", "max_concurrency": 8, "output_throughput": 452.0, "mean_ttft_ms": 96.0}
    return Incident(
        "cp004-outlines",
        "Twenty times slower as soon as a schema is asked for",
        "Plain chat on this server does 480 tok/s at 8 users. With response_format json_schema (every request has "
        "its own large schema) it does 24. GPU is nearly idle then.",
        "synthetic",
        stack(server, "1x NVIDIA L40S 48 GB", "Qwen3-8B"),
        ("cpu", "grammar"),
        _CP004_OUTLINES,
        hosts={
            "box": scene.host(gpus__csv=scene.gpus(spread(9, 74, 1)), processes__json=processes(server, [100.1]))
            | dict(scene.metrics())
        },
        files={
            "bench.jsonl": jsonl([measured(done, load, tool="own client, response_format json_schema")]),
            "relaunches.jsonl": jsonl([relaunch(after, set_={"--grammar-backend": "xgrammar"})]),
        },
        stated=("Without a schema the same prompts run at 486 tok/s with 8 users.",),
    )


CASES = (
    cp003_wrong_sockets,
    cp004_outlines,
)
