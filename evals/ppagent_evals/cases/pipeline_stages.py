"""Pipelines held back by one stage, or by the way back."""

from dataclasses import replace

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import H20_3E, PRO_6000, RTX_A6000
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_TIMER = {"SGLANG_ENABLE_METRICS_DEVICE_TIMER": "1"}


_NVSWITCH = topology(8, near="NV18", far="NV18")


_PP004_61_LAYERS = Answer(
    "diagnosed",
    causes=("PP004",),
    must_not_support=("PP001", "PP002", "PP003", "KV001", "CG001", "IC001", "HW001", "HW002"),
    ruled_out=("PP001", "CG001", "KV001"),
    fixes=(fix(env={"SGLANG_PP_LAYER_PARTITION": "*"}), OPERATOR),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
    evidence=("server.log",),
    note="0.5.5 gives the whole remainder to the last stage: 7,7,7,7,7,7,7,12. Its weights are 125 GB against 72 GB, "
    "and a turn takes eight times its step. The others spin in a receive at 100 % and 220 W.",
    ref="the split rule of sglang 0.5.5 distributed/utils.py; changed by sgl-project/sglang#13977; figures made up",
)


def pp004_61_layers() -> Incident:
    server = Server("0.5.5", DEEPSEEK_R1, H20_3E, pp=8, flags={"--pp-max-micro-batch-size": "2"})
    scene = Scene("pp004-61-layers-055", server, "2025-11-20T15:38:02")
    scene.start(load_s=402)
    load = Load((2,) * 8, 91.0, 600, 600, prefill_ms_per_k=74)
    scene.serve(load, 10)
    rows = [measured(scene.serve_unseen(load, 60), load)]
    half = replace(load, slots=(1,) * 8, turn_ms=74.0)
    rows.append(measured(scene.serve_unseen(half, 60, after_s=4), half))
    gpus = [*spread(99, 219, 7), Gpu(100, 343, temperature_c=67)]
    return Incident(
        "pp004-61-layers-055",
        "61 layers over eight stages, twelve of them on the last",
        "All eight slots are filled now (2 requests each) but we stay at 175 tok/s. nvidia-smi says 100 % "
        "everywhere, yet the last card is the only hot one.",
        "synthetic",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("pp", "layer-split"),
        _PP004_61_LAYERS,
        hosts={"node": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=_NVSWITCH)},
        files={"bench.jsonl": jsonl(rows)},
    )


_PP004_SLOW_CARD = Answer(
    "diagnosed",
    causes=("PP004",),
    also_accepted=("HW003",),
    must_not_support=("PP001", "PP003", "PP007", "KV001", "CG001", "HW001", "IC004"),
    ruled_out=("PP001", "PP003", "CG001"),
    fixes=(fix(env={"SGLANG_PP_LAYER_PARTITION": "*"}), OPERATOR),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log", "gpus.csv"),
    note="Stage 2 is busy all the time, the others less than half of it: that card reads 0.77 TB/s where its "
    "neighbours read 1.79. Fewer layers on it would help.",
    ref="made up: 16 layers each, step times by memory bandwidth",
)


def pp004_slow_card() -> Incident:
    flags = {"--pp-max-micro-batch-size": "8", "--max-total-tokens": "260000", "--enable-metrics": "true"}
    server = Server("0.5.12", QWEN3_32B, PRO_6000, pp=4, flags=flags, env=_TIMER)
    scene = Scene("pp004-slow-card", server, "2026-06-01T12:20:37")
    scene.start(load_s=52)
    load = Load((8,) * 4, 98.0, 500, 700, prefill_ms_per_k=48, occupancy=(44.5, 43.0, 98.4, 46.0))
    scene.serve(load, 15)
    done = scene.serve_unseen(load, 90, scrape_every=30)
    slow = Gpu(99, 287, clock_mhz=1770, card=RTX_A6000, temperature_c=79, memory_mib=33120)
    gpus = [Gpu(63, 301), Gpu(61, 296), slow, Gpu(64, 305)]
    return Incident(
        "pp004-slow-card",
        "Three fast cards and an older one in a pipeline",
        "PP4 over what we had lying around. 330 tok/s at 32 users, and three of the cards are bored. Did I set the "
        "micro-batches wrong?",
        "synthetic",
        stack(server, "3x NVIDIA RTX PRO 6000 96 GB, 1x NVIDIA RTX A6000 48 GB", "Qwen3-32B"),
        ("pp", "hardware"),
        _PP004_SLOW_CARD,
        hosts={
            "rig": scene.host(
                gpus__csv=scene.gpus(gpus), topology__txt=topology(4, near="PHB"), server_info__json=scene.info()
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_PP007_RETURN_PATH = Answer(
    "diagnosed",
    causes=("PP007",),
    also_accepted=("CP001",),
    must_not_support=("PP001", "PP002", "PP003", "PP004", "KV001", "CG001", "IC001", "HW001"),
    ruled_out=("PP001", "PP004", "CG001", "KV001"),
    fixes=(fix(pp_async_batch_depth="1..2"),),
    forbidden_changes=("--pp-max-micro-batch-size=1", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="All eight slots hold six requests and all stages idle alike for about 30 %: the way back of the tokens and "
    "the CPU work between turns are not hidden.",
    ref="made up; signature after sgl-project/sglang#40499 and the loop of 0.5.7+",
)


def pp007_return_path() -> Incident:
    flags = {"--pp-max-micro-batch-size": "6", "--enable-metrics": "true"}
    server = Server("0.5.12", DEEPSEEK_R1, H20_3E, pp=8, flags=flags, env=_TIMER)
    scene = Scene("pp007-return-path", server, "2026-06-09T09:02:55")
    scene.start(load_s=388)
    load = Load(
        (6,) * 8, 96.0, 500, 900, prefill_ms_per_k=58, occupancy=(66.1, 67.4, 66.8, 69.9, 70.3, 69.5, 70.1, 72.2)
    )
    scene.serve(load, 8)
    done = scene.serve_unseen(load, 90, scrape_every=30)
    return Incident(
        "pp007-return-path",
        "Every slot filled, every stage a third idle",
        "Slots are balanced (6 x 8), graphs are on, the split is even, but each stage only shows about 70 % "
        "occupancy. Where does the rest go?",
        "synthetic",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("pp", "decode"),
        _PP007_RETURN_PATH,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(98, 281, 8)), topology__txt=_NVSWITCH, server_info__json=scene.info()
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


CASES = (
    pp004_61_layers,
    pp004_slow_card,
    pp007_return_path,
)
