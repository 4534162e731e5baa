"""Pipelines whose requests clump into one slot."""

from ppagent_evals.writing.bench import Row, jsonl, measured
from ppagent_evals.writing.cards import H20, H20_3E
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, QWEN3_235B, QWEN3_235B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NOT_PP001 = ("PP002", "PP003", "KV001", "KV002", "CG001", "CG002", "IC001", "SP001", "HW001", "LB001")


_NVSWITCH = topology(8, near="NV18", far="NV18")


def _levels(scene: Scene, turns: dict[int, float], input_len: int, output_len: int) -> list[Row]:
    """Benchmark rows of lower levels, each in one slot, from the turn in ms at that concurrency."""
    rows = []
    for concurrency, turn_ms in turns.items():
        load = Load((concurrency,), turn_ms, input_len, output_len, prefill_ms_per_k=90)
        rows.append(measured(scene.serve_unseen(load, 60, after_s=5.0), load))
    return rows


_PP001_PP4_OLD_NAME = Answer(
    "diagnosed",
    causes=("PP001",),
    also_accepted=("PP004", "PP007"),
    must_not_support=_NOT_PP001,
    ruled_out=("PP003", "CG001", "KV001"),
    fixes=(fix(max_micro_batch_size="2..6"),),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--attention-backend"),
    evidence=("server.log", "bench.jsonl"),
    predicted={"metric": "output_throughput", "at": {"max_concurrency": 16}, "low": 440, "high": 690},
    note="Running is 16 on the first stage at 16 in flight: one slot of four. In 0.5.3 the flag is "
    "--max-micro-batch-size.",
    ref="made up: turns of 17 / 27 / 50 ms at 1 / 4 / 16 requests in one slot, from expert traffic",
)


def pp001_pp4_old_name() -> Incident:
    server = Server("0.5.3", QWEN3_235B_FP8, H20, pp=4, flags={"--context-length": "65536"})
    scene = Scene("pp001-pp4-053", server, "2025-10-14T10:06:21")
    scene.start(load_s=143)
    load = Load((16,), 50.5, 900, 700, prefill_ms_per_k=92)
    scene.serve(load, 16)
    rows = [measured(scene.serve_unseen(load, 60), load), *_levels(scene, {4: 27.2, 1: 17.1}, 900, 700)]
    return Incident(
        "pp001-pp4-053",
        "Four stages, sixteen requests, one slot (0.5.3)",
        "16 concurrent on 4x H20 with --pp-size 4 and nvidia-smi jumps from one card to the next. 320 tok/s in "
        "total. Which flag makes the stages work in parallel?",
        "synthetic",
        stack(server, "4x NVIDIA H20 96 GB", "Qwen3-235B-A22B FP8"),
        ("pp", "decode"),
        _PP001_PP4_OLD_NAME,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(29, 171, 4)), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl(rows)},
    )


_PP001_PP8 = Answer(
    "diagnosed",
    causes=("PP001",),
    also_accepted=("PP004", "PP007", "PP009"),
    must_not_support=_NOT_PP001,
    ruled_out=("PP003", "CG001", "KV001"),
    fixes=(fix(pp_max_micro_batch_size="1..4"),),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--chunked-prefill-size"),
    evidence=("server.log", "bench.jsonl"),
    predicted={"metric": "output_throughput", "at": {"max_concurrency": 16}, "low": 300, "high": 480},
    note="#running-req equals the client's concurrency on every line of PP0, so one slot is filled.",
    ref="made up: turns of 31 / 64 / 95 ms at 1 / 8 / 16 requests in one slot",
)


def pp001_pp8() -> Incident:
    server = Server("0.5.10", DEEPSEEK_R1, H20_3E, pp=8, flags={"--enable-metrics": "true"})
    scene = Scene("pp001-pp8-0510", server, "2026-04-22T09:41:05")
    scene.start(load_s=384)
    load = Load((16,), 95.0, 600, 900, prefill_ms_per_k=110, spread=0.2)
    scene.serve(load, 21)
    rows = [measured(scene.serve_unseen(load, 90, scrape_every=30), load)]
    metrics = dict(scene.metrics())
    rows += _levels(scene, {8: 63.5, 1: 31.2}, 600, 900)
    return Incident(
        "pp001-pp8-0510",
        "Eight stages with all requests in one slot (0.5.10)",
        "Agents keep 16 requests going on a PP8 server. Every GPU shows 12-30 % and 165 tok/s comes out. I expected "
        "the pipeline to overlap the requests.",
        "synthetic",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("pp", "decode"),
        _PP001_PP8,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(24, 158, 8)), topology__txt=_NVSWITCH, server_info__json=scene.info()
            )
            | metrics
        },
        files={"bench.jsonl": jsonl(rows)},
    )


_PP001_PP4_TP2 = Answer(
    "diagnosed",
    causes=("PP001",),
    also_accepted=("PP004", "PP007", "PP009"),
    must_not_support=_NOT_PP001,
    ruled_out=("PP003", "CG001", "KV001"),
    fixes=(fix(pp_max_micro_batch_size="4..12"),),
    forbidden_changes=("--pp-async-batch-depth", "--cuda-graph-max-bs", "--disable-cuda-graph"),
    evidence=("server.log",),
    predicted={"metric": "output_throughput", "at": {"max_concurrency": 32}, "low": 720, "high": 1080},
    note="One slot of four holds all 32 requests. The arguments line is a dict in this version.",
    ref="made up: turns of 26 / 38 / 62 ms at 2 / 8 / 32 requests in one slot",
)


def pp001_pp4_tp2() -> Incident:
    server = Server("0.5.20", QWEN3_235B, H20, tp=2, pp=4, flags={"--mem-fraction-static": "0.87"})
    scene = Scene("pp001-pp4tp2-0520", server, "2026-09-30T20:17:44")
    scene.start(load_s=231)
    load = Load((32,), 62.0, 1200, 800, prefill_ms_per_k=71)
    scene.serve(load, 18)
    rows = [measured(scene.serve_unseen(load, 60), load), *_levels(scene, {8: 37.5, 2: 26.4}, 1200, 800)]
    return Incident(
        "pp001-pp4tp2-0520",
        "TP2 x PP4 with 32 requests in one slot (0.5.20)",
        "We moved from TP8 to TP2 PP4 for memory reasons. At 32 concurrent we only see 510 tok/s and a quarter of "
        "the power. Is PP just slow?",
        "synthetic",
        stack(server, "8x NVIDIA H20 96 GB", "Qwen3-235B-A22B BF16"),
        ("pp", "tp", "decode"),
        _PP001_PP4_TP2,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(27, 176, 8)),
                topology__txt=_NVSWITCH,
                server_info__json=scene.info(),
                loads__json=scene.loads(),
            )
        },
        files={"bench.jsonl": jsonl(rows)},
        stated=("Each card draws about 175 W of 500 W under load.",),
    )


CASES = (
    pp001_pp4_old_name,
    pp001_pp8,
    pp001_pp4_tp2,
)
