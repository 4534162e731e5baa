"""Pipelines held back by a stage, by the way back, or by being pipelines at all."""

from dataclasses import replace

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import A100_40, H20_3E, H200, PRO_6000
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, LLAMA_8B, QWEN3_32B, QWEN3_235B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_TIMER = {"SGLANG_ENABLE_METRICS_DEVICE_TIMER": "1"}
_NVSWITCH = topology(8, near="NV18", far="NV18")


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
        "reconstructed",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("pp", "layer-split"),
        Answer(
            "diagnosed",
            causes=("PP004",),
            must_not_support=("PP001", "PP002", "PP003", "KV001", "CG001", "IC001", "HW001", "HW002"),
            ruled_out=("PP001", "CG001", "KV001"),
            fixes=(fix(env={"SGLANG_PP_LAYER_PARTITION": "*"}), OPERATOR),
            forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
            evidence=("server.log",),
            note="0.5.5 gives the whole remainder to the last stage: 7,7,7,7,7,7,7,12. Its weights are 125 GB "
            "against 72 GB, and a turn takes eight times its step. The others spin in a receive at 100 % and 220 W.",
            ref="the split rule of sglang 0.5.5 distributed/utils.py; changed by sgl-project/sglang#13977; figures "
            "made up",
        ),
        hosts={"node": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=_NVSWITCH)},
        files={"bench.jsonl": jsonl(rows)},
    )


def pp004_slow_card() -> Incident:
    flags = {"--pp-max-micro-batch-size": "8", "--max-total-tokens": "260000", "--enable-metrics": "true"}
    server = Server("0.5.12", QWEN3_32B, PRO_6000, pp=4, flags=flags, env=_TIMER)
    scene = Scene("pp004-slow-card", server, "2026-06-01T12:20:37")
    scene.start(load_s=52)
    load = Load((8,) * 4, 98.0, 500, 700, prefill_ms_per_k=48, occupancy=(44.5, 43.0, 98.4, 46.0))
    scene.serve(load, 15)
    done = scene.serve_unseen(load, 90, scrape_every=30)
    slow = Gpu(99, 287, clock_mhz=1770, name="NVIDIA RTX A6000", limit_w=300, gen=4, temperature_c=79, memory_mib=33120)
    gpus = [Gpu(63, 301), Gpu(61, 296), slow, Gpu(64, 305)]
    return Incident(
        "pp004-slow-card",
        "Three fast cards and an older one in a pipeline",
        "PP4 over what we had lying around. 330 tok/s at 32 users, and three of the cards are bored. Did I set the "
        "micro-batches wrong?",
        "synthetic",
        stack(server, "3x NVIDIA RTX PRO 6000 96 GB, 1x NVIDIA RTX A6000 48 GB", "Qwen3-32B"),
        ("pp", "hardware"),
        Answer(
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
        ),
        hosts={
            "rig": scene.host(
                gpus__csv=scene.gpus(gpus), topology__txt=topology(4, near="PHB"), server_info__json=scene.info()
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
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
        Answer(
            "diagnosed",
            causes=("PP007",),
            also_accepted=("CP001",),
            must_not_support=("PP001", "PP002", "PP003", "PP004", "KV001", "CG001", "IC001", "HW001"),
            ruled_out=("PP001", "PP004", "CG001", "KV001"),
            fixes=(fix(pp_async_batch_depth="1..2"),),
            forbidden_changes=("--pp-max-micro-batch-size=1", "--disable-cuda-graph"),
            evidence=("server.log",),
            note="All eight slots hold six requests and all stages idle alike for about 30 %: the way back of the "
            "tokens and the CPU work between turns are not hidden.",
            ref="made up; signature after sgl-project/sglang#40499 and the loop of 0.5.7+",
        ),
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(98, 281, 8)), topology__txt=_NVSWITCH, server_info__json=scene.info()
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


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


def pp007_blocking_send_receive() -> Incident:
    nodes = [_node(index) for index in range(2)]
    row: Row = {
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
        Answer(
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
            note="32 requests in each of four slots, graphs on, TP inside the node. The loop of 0.4.9 sends and "
            "receives in step with the host; the asynchronous loop came with 0.5.7. TTFT equals E2E since streaming "
            "was off.",
            ref="sgl-project/sglang#7979 (figures of the bench); log and samples rebuilt around them",
        ),
        hosts=hosts,
        files={"bench.jsonl": jsonl([row])},
    )


def pp009_8b_over_eight() -> Incident:
    server = Server("0.5.10", LLAMA_8B, A100_40, pp=8, flags={"--pp-max-micro-batch-size": "4"})
    scene = Scene("pp009-8b-over-eight", server, "2026-04-09T22:11:58")
    scene.start(load_s=9)
    load = Load((4,) * 8, 49.5, 447, 68, prefill_ms_per_k=20)
    scene.serve(load, 2.6)
    pp8: Row = {
        "tool": "own script, offline batch",
        "max_concurrency": 32,
        "completed": 256,
        "duration": 29.89,
        "total_input_tokens": 114532,
        "total_output_tokens": 17517,
        "output_throughput": 586.03,
    }
    pp1: Row = {
        **pp8,
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
        Answer(
            "diagnosed",
            causes=("PP009",),
            also_accepted=("CP001", "PP007", "PP001"),
            must_not_support=("PP003", "KV001", "KV002", "CG001", "IC001", "HW001"),
            ruled_out=("CG001", "KV001"),
            fixes=(fix(unset=("--pp-size",)), fix(pp_size="1..2"), fix(dp_size="2..8")),
            forbidden_changes=("--disable-cuda-graph", "--pp-max-micro-batch-size=1"),
            evidence=("server.log",),
            note="Four layers a stage are a millisecond of work; the model fits one card seven times over. One "
            "replica on each card is the layout.",
            ref="vllm-project/vllm#11500 (both throughputs, 20-50 % utilisation), retold for SGLang; hardware made up",
        ),
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(
                    [Gpu(u, 96 + u) for u in (47, 33, 28, 24, 31, 22, 36, 41)], before_end_s=2.5, count=3
                ),
                topology__txt=topology(8, near="NV12", far="NV12"),
            )
        },
        files={"bench.jsonl": jsonl([pp8]), "relaunches.jsonl": jsonl([relaunch(pp1, unset=["--pp-size"])])},
    )


CASES = (
    pp004_61_layers,
    pp004_slow_card,
    pp007_return_path,
    pp007_blocking_send_receive,
    pp009_8b_over_eight,
)
