"""The processes in front of the GPUs: scheduler and tokenizer."""

from ppagent_evals.writing.bench import Row, jsonl, measured
from ppagent_evals.writing.cards import H200
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.machine import host, processes
from ppagent_evals.writing.models import DEEPSEEK_R1, QWEN3_30B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_TIMER = {"SGLANG_ENABLE_METRICS_DEVICE_TIMER": "1"}


_CP001_OVERLAP_SWITCHED_OFF = Answer(
    "diagnosed",
    causes=("CP001",),
    must_not_support=("CG001", "CG002", "KV001", "KV002", "HW001", "IC001", "PP001", "KR001"),
    ruled_out=("CG001", "KV001"),
    fixes=(fix(unset=("--disable-overlap-schedule",)), fix(num_continuous_decode_steps="2..8"), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--attention-backend"),
    evidence=("server.log", "processes.json"),
    note="Forwards fill 41 % of the time, the scheduler's thread is at 100 % of a core, and the step does not grow "
    "with the batch: the host sets the pace, since overlap is switched off by flag.",
    ref="made up",
)


def cp001_overlap_switched_off() -> Incident:
    flags = {"--disable-overlap-schedule": "true", "--enable-metrics": "true"}
    server = Server("0.5.12", QWEN3_30B_FP8, H200, flags=flags, env=_TIMER)
    scene = Scene("cp001-overlap-switched-off", server, "2026-06-03T11:44:05")
    scene.start(load_s=18)
    load = Load((32,), 21.5, 500, 600, prefill_ms_per_k=14, occupancy=(41.0,))
    scene.serve(load, 20)
    rows = [measured(scene.serve_unseen(load, 60, scrape_every=20), load)]
    metrics = dict(scene.metrics())
    for concurrency, turn_ms in ((16, 20.6), (64, 22.9)):
        other = Load((concurrency,), turn_ms, 500, 600, prefill_ms_per_k=14, occupancy=(41.0,))
        rows.append(measured(scene.serve_unseen(other, 60, after_s=4), other))
    return Incident(
        "cp001-overlap-switched-off",
        "A step of 21 ms whatever the batch",
        "A 3B-active model on an H200 does 1.45k tok/s at 32 users, and the GPU is busy less than half the time. "
        "Graphs are on. From 16 to 64 users the step time hardly moves. What eats the rest?",
        "synthetic",
        stack(server, "1x NVIDIA H200", "Qwen3-30B-A3B FP8"),
        ("cpu", "scheduler"),
        _CP001_OVERLAP_SWITCHED_OFF,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(43, 246, 1)),
                processes__json=processes(server, [100.2]),
                host__json=host("AMD EPYC 7302 16-Core Processor", sockets=1, cores=16, numa_nodes=1, load_average=3.8),
                server_info__json=scene.info(),
            )
            | metrics
        },
        files={"bench.jsonl": jsonl(rows)},
    )


_CP002_SLOW_TOKENIZER = Answer(
    "diagnosed",
    causes=("CP002",),
    also_accepted=("ME001",),
    must_not_support=("CG001", "KV001", "KV002", "LB001", "LB002", "PP001", "IC001", "CP001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(unset=("--tokenizer-mode",)),
        fix(tokenizer_mode="auto"),
        fix(tokenizer_worker_num="2..16"),
        fix(stream_interval="2..32"),
        OPERATOR,
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("server.log", "bench.jsonl"),
    note="27 running and 690 tok/s a rank are 39 ms a token; the client sees 180. Between them stand one tokenizer "
    "process at 100 % of a core and a slow tokenizer.",
    ref="sgl-project/sglang#23393 (180 and 39 ms, batch 1024 and 128); log and processes rebuilt",
)


_CP002_SLOW_TOKENIZER_ROW: Row = {
    "backend": "sglang",
    "dataset_name": "random",
    "max_concurrency": 1024,
    "random_input_len": 256,
    "random_output_len": 700,
    "completed": 4096,
    "output_throughput": 5480.0,
    "median_itl_ms": 180.4,
    "mean_itl_ms": 183.1,
    "mean_tpot_ms": 182.7,
    "mean_ttft_ms": 6120.0,
}


_CP002_SLOW_TOKENIZER_SMALL: Row = {
    **_CP002_SLOW_TOKENIZER_ROW,
    "max_concurrency": 128,
    "output_throughput": 3290.0,
    "median_itl_ms": 37.9,
    "mean_itl_ms": 38.3,
    "mean_tpot_ms": 38.2,
    "mean_ttft_ms": 410.0,
}


def cp002_slow_tokenizer() -> Incident:
    flags = {"--trust-remote-code": "true", "--tokenizer-mode": "slow", "--mem-fraction-static": "0.8"}
    server = Server("0.5.10", DEEPSEEK_R1, H200, tp=8, dp=8, dp_attention=True, flags=flags)
    scene = Scene("cp002-slow-tokenizer", server, "2026-04-22T17:25:49")
    slow = "Using a slow tokenizer. This might cause a significant slowdown. Consider using a fast tokenizer instead."
    scene.start(load_s=205, warnings=(slow,))
    load = Load((27,), 38.6, 256, 700, prefill_ms_per_k=38)
    scene.serve(load, 5)
    scene.leave_out_ramp()
    scene.serve(load, 17, after_s=0)
    return Incident(
        "cp002-slow-tokenizer",
        "The engine does 39 ms a token, the client sees 180",
        "DP attention, 1024 concurrent. The client measures a median ITL of 180 ms but the log shows only about 27 "
        "running per rank, nothing queued, and 690 tok/s per rank, which is 39 ms. At 128 concurrent both agree. "
        "Where is the time?",
        "reconstructed",
        stack(server, "8x NVIDIA H200", "DeepSeek-R1"),
        ("cpu", "tokenizer", "dp-attention"),
        _CP002_SLOW_TOKENIZER,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(97, 476, 8)),
                processes__json=processes(server, [63.0] * 8, tokenizer_cpu=100.4, detokenizer_cpu=99.8),
                host__json=host("Intel(R) Xeon(R) Platinum 8480C", cores=112, load_average=22.0, memory_gib=2015),
            )
        },
        files={"bench.jsonl": jsonl([_CP002_SLOW_TOKENIZER_ROW, _CP002_SLOW_TOKENIZER_SMALL])},
    )


CASES = (
    cp001_overlap_switched_off,
    cp002_slow_tokenizer,
)
