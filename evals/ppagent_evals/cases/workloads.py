"""Nothing broken: the load or the figure is what it is."""

from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import H20_3E, H100, H200
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, LLAMA_70B_FP8, QWEN3_32B, QWEN3_235B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NVSWITCH = topology(8, near="NV18", far="NV18")


_NO_FAULT = ("CG001", "CG002", "KV001", "KV002", "PP001", "PP003", "IC001", "HW001", "HW002", "CP001")


_LB001_CLIENT_LIMITED = Answer(
    "healthy",
    causes=("LB001",),
    must_not_support=("CG001", "CG002", "KV001", "KV002", "PP001", "IC001", "HW001", "HW002", "CP001", "KV005"),
    ruled_out=("KV001", "KV002", "CG001"),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests", "--attention-backend", "--tp-size"),
    evidence=("server.log",),
    note="Running equals the client's eight, nothing waits, 1 % of the pool is used, a step takes 14 ms with graphs: "
    "the client is the limit. More workers.",
    ref="made up",
)


def lb001_client_limited() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=4, flags={"--enable-metrics": "true"})
    scene = Scene("lb001-client-limited", server, "2026-04-08T10:01:42")
    scene.start(load_s=55)
    load = Load((8,), 14.1, 500, 400, prefill_ms_per_k=40)
    scene.serve(load, 22)
    done = scene.serve_unseen(load, 75, scrape_every=25)
    return Incident(
        "lb001-client-limited",
        "Eight requests for a server that could take hundreds",
        "We were promised 5k tok/s from four H100, and our load test shows 550 tok/s. The test has been running for "
        "an hour with 8 worker threads. What is misconfigured?",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B FP8"),
        ("control", "load", "healthy"),
        _LB001_CLIENT_LIMITED,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(99, 389, 4)),
                topology__txt=topology(4, near="NV18"),
                server_info__json=scene.info(),
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_PP002_TWO_USERS_OVER_EIGHT_STAGES = Answer(
    "healthy",
    causes=("PP002",),
    also_accepted=("LB001", "PP009"),
    must_not_support=("PP001", "PP003", "PP004", "PP007", "CG001", "KV001", "KV002", "IC001", "HW001"),
    ruled_out=("PP003", "CG001", "KV001"),
    forbidden_changes=("--pp-max-micro-batch-size", "--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="Two requests can keep two of eight stages busy, each in its own slot as it is. One stream's speed is the "
    "sum of the stages; only TP (or more users for throughput) changes that.",
    ref="made up",
)


def pp002_two_users_over_eight_stages() -> Incident:
    server = Server("0.5.12", DEEPSEEK_R1, H20_3E, pp=8)
    scene = Scene("pp002-two-users-over-eight-stages", server, "2026-05-30T21:16:09")
    scene.start(load_s=397)
    load = Load((1, 1), 33.6, 700, 800, prefill_ms_per_k=75)
    scene.serve(load, 15)
    rows = [measured(scene.serve_unseen(load, 60), load)]
    one = Load((1,), 32.9, 700, 800, prefill_ms_per_k=75)
    rows.append(measured(scene.serve_unseen(one, 60, after_s=4), one))
    return Incident(
        "pp002-two-users-over-eight-stages",
        "Two users on a pipeline of eight",
        "Just the two of us use this PP8 server, and each gets 30 tok/s while the cards idle at 20 %. Which "
        "micro-batch setting makes a single answer faster?",
        "synthetic",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1-0528"),
        ("control", "pp", "healthy"),
        _PP002_TWO_USERS_OVER_EIGHT_STAGES,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(23, 152, 8)), topology__txt=_NVSWITCH)},
        files={"bench.jsonl": jsonl(rows)},
        stated=("There are never more than 2 requests at the same time.",),
    )


_PR001_LONG_IN_SHORT_OUT = Answer(
    "healthy",
    causes=("PR001",),
    also_accepted=("ME001", "LB001"),
    must_not_support=(*_NO_FAULT, "KV004", "PP006"),
    ruled_out=("KV002", "CG001"),
    forbidden_changes=("--disable-cuda-graph", "--chunked-prefill-size=-1", "--max-running-requests"),
    evidence=("server.log",),
    note="230 prompt tokens for each output token; 28k input tok/s is 1.8 PFLOP/s, about half of the cards' peak as "
    "usual. Nothing is broken; prefill on its own nodes would smooth the decoding.",
    ref="made up: 64 GFLOP a token",
)


def pr001_long_in_short_out() -> Incident:
    server = Server("0.5.10", QWEN3_32B, H100, tp=4)
    scene = Scene("pr001-long-in-short-out", server, "2026-04-13T13:37:50")
    scene.start(load_s=34)
    load = Load((16,), 15.5, 14000, 60, prefill_ms_per_k=31.5)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 90)
    return Incident(
        "pr001-long-in-short-out",
        "Classification of long documents, judged by output tokens",
        "Only 120 output tok/s from four H100! Each request is a different 14k-token contract and a 60-token answer, "
        "16 at a time.",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Qwen3-32B"),
        ("prefill", "healthy"),
        _PR001_LONG_IN_SHORT_OUT,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(100, 662, 4)), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("The documents have nothing in common.",),
    )


_ME001_TTFT_WITHOUT_STREAMING = Answer(
    "healthy",
    causes=("ME001",),
    also_accepted=("LB001",),
    must_not_support=(*_NO_FAULT, "PR001", "PP005", "PP006"),
    ruled_out=("KV001", "CG001"),
    forbidden_changes=("--chunked-prefill-size", "--enable-mixed-chunk", "--disable-cuda-graph"),
    evidence=("bench.jsonl",),
    note="Without streaming the first token is seen with the last: TTFT equals E2E and TPOT is 0. By the log a "
    "prompt is prefilled in about 20 ms and decoding runs at 37 ms a token.",
    ref="the trap in sgl-project/sglang#7979 (P99 TTFT 38.7 s = E2E); server made up as a healthy TP8",
)


def me001_ttft_without_streaming() -> Incident:
    flags = {"--trust-remote-code": "true", "--cuda-graph-max-bs": "128"}
    server = Server("0.5.10", QWEN3_235B, H200, tp=8, flags=flags)
    scene = Scene("me001-ttft-without-streaming", server, "2026-04-27T09:29:33")
    scene.start(load_s=141)
    load = Load((128,), 36.5, 946, 951, prefill_ms_per_k=22)
    scene.serve(load, 24)
    done = scene.serve_unseen(load, 120)
    row = measured(done, load, streaming=False, disable_stream=True, dataset_name="random-ids")
    return Incident(
        "me001-ttft-without-streaming",
        "A time to first token of forty seconds",
        "bench_serving --disable-stream says mean TTFT is 37 s at 128 concurrent and TPOT is 0. Prefill must be "
        "totally broken. How do I fix the prefill?",
        "reconstructed",
        stack(server, "8x NVIDIA H200", "Qwen3-235B-A22B BF16"),
        ("control", "measurement", "healthy"),
        _ME001_TTFT_WITHOUT_STREAMING,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(99, 487, 8)), topology__txt=_NVSWITCH)},
        files={"bench.jsonl": jsonl([row])},
    )


CASES = (
    lb001_client_limited,
    pp002_two_users_over_eight_stages,
    pr001_long_in_short_out,
    me001_ttft_without_streaming,
)
