"""Pipelines with a limit left behind, or with little to gain."""

from ppagent_evals.writing.bench import Row, jsonl, measured
from ppagent_evals.writing.cards import H20_3E, PRO_6000
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, LLAMA_70B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NVSWITCH = topology(8, near="NV18", far="NV18")


def _levels(scene: Scene, turns: dict[int, float], input_len: int, output_len: int) -> list[Row]:
    """Benchmark rows of lower levels, each in one slot, from the turn in ms at that concurrency."""
    rows = []
    for concurrency, turn_ms in turns.items():
        load = Load((concurrency,), turn_ms, input_len, output_len, prefill_ms_per_k=90)
        rows.append(measured(scene.serve_unseen(load, 60, after_s=5.0), load))
    return rows


_PP003_LIMIT_LEFT_BEHIND = Answer(
    "diagnosed",
    causes=("PP003",),
    must_not_support=("PP001", "PP002", "KV001", "KV005", "CG001", "IC001", "LB001", "CP001"),
    ruled_out=("PP001", "KV001", "CG001"),
    fixes=(fix(pp_max_micro_batch_size="4..512"), fix(unset=("--pp-max-micro-batch-size",))),
    forbidden_changes=("--pp-async-batch-depth", "--mem-fraction-static", "--max-running-requests"),
    evidence=("server.log", "launch.txt"),
    note="Limit 1 over 8 slots lets 8 requests run; 56 wait with no KV in use to speak of.",
    ref="made up",
)


def pp003_limit_left_behind() -> Incident:
    server = Server("0.5.12", DEEPSEEK_R1, H20_3E, pp=8, flags={"--pp-max-micro-batch-size": "1"})
    scene = Scene("pp003-limit-left-behind", server, "2026-05-28T14:09:16")
    scene.start(load_s=391)
    load = Load((1,) * 8, 38.0, 700, 500, offered=64, prefill_ms_per_k=60)
    scene.serve(load, 6)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "pp003-limit-left-behind",
        "A micro-batch limit from an experiment met the full load",
        "Last week I tested with 8 users and this was great. Now 64 users are on it and time to first token went to "
        "more than half a minute while the KV cache is empty.",
        "synthetic",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("pp", "admission"),
        _PP003_LIMIT_LEFT_BEHIND,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(91, 266, 8)),
                topology__txt=_NVSWITCH,
                server_info__json=scene.info(),
                loads__json=scene.loads(),
            )
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_DENSE_FEW_REQUESTS = Answer(
    "diagnosed",
    causes=("PP001",),
    also_accepted=("PP009", "PP007"),
    must_not_support=("PP003", "KV001", "KV002", "CG001", "CG002", "IC001", "HW001"),
    ruled_out=("PP003", "CG001", "KV001"),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log", "bench.jsonl"),
    note="One slot is filled, but a turn costs 39 ms at one request and 41 ms at eight: reading the weights is all "
    "there is, so spreading buys a few per cent. More requests, or TP, would buy more.",
    ref="made up: 67.7 GiB over 1.79 TB/s is 40 ms whatever the batch",
)


def dense_few_requests() -> Incident:
    server = Server("0.5.11", LLAMA_70B_FP8, PRO_6000, pp=4, flags={"--context-length": "32768"})
    scene = Scene("dense-few-requests", server, "2026-05-07T17:52:40")
    scene.start(load_s=66)
    load = Load((8,), 41.4, 500, 600, prefill_ms_per_k=38)
    scene.serve(load, 22)
    rows = [measured(scene.serve_unseen(load, 60), load), *_levels(scene, {4: 40.1, 1: 39.2}, 500, 600)]
    return Incident(
        "dense-few-requests",
        "A dense model whose pipeline could look busier and hardly be faster",
        "Eight requests on PP4 and each card is at 25 %. If I get the micro-batching right I should see four times "
        "the tokens, right?",
        "synthetic",
        stack(server, "4x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Llama-3.3-70B FP8"),
        ("pp", "decode", "prediction"),
        _DENSE_FEW_REQUESTS,
        hosts={"ws": scene.host(gpus__csv=scene.gpus(spread(27, 168, 4)), topology__txt=topology(4))},
        files={"bench.jsonl": jsonl(rows)},
    )


CASES = (
    pp003_limit_left_behind,
    dense_few_requests,
)
