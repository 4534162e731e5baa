"""Hardware: capped, hot, or shared."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import H100, L40S, RTX_3090
from ppagent_evals.writing.gpus import (
    HW_SLOWDOWN,
    HW_THERMAL,
    SW_POWER_CAP,
    Gpu,
    gpu_processes,
    topology,
)
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_70B_FP8, QWEN3_32B, QWEN3_32B_AWQ
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

_OTHERS = ("CG001", "KV001", "KV002", "PP001", "IC001", "CP001", "LB001")


_HW001_POWER_CAP = Answer(
    "diagnosed",
    causes=("HW001",),
    must_not_support=(*_OTHERS, "HW002", "IC003", "IC004"),
    ruled_out=("CG001", "KV001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph", "--attention-backend"),
    evidence=("gpus.csv",),
    note="Both cards sit at a cap of 250 W of 370 W, with the power-cap reason set and clocks a quarter below the "
    "maximum. A uniform 0.9 over prefill and decode is the cap, not a fault.",
    ref="noonghunna/club-3090#585 (76 against 83, 421 against 463, cap 250 W), retold for SGLang; log rebuilt",
)


def hw001_power_cap() -> Incident:
    server = Server("0.5.10", QWEN3_32B_AWQ, RTX_3090, tp=2, flags={"--context-length": "32768"})
    scene = Scene("hw001-power-cap", server, "2026-07-03T18:26:44")
    scene.start(load_s=25)
    load = Load((1,), 13.15, 900, 700, prefill_ms_per_k=410)
    scene.serve(load, 22)
    done = scene.serve_unseen(load, 60)
    gpus = [
        Gpu(98, w, limit_w=250, clock_mhz=mhz, reasons=SW_POWER_CAP, temperature_c=64)
        for w, mhz in ((249.6, 1545), (249.2, 1560))
    ]
    return Incident(
        "hw001-power-cap",
        "A uniform tenth slower than the same box elsewhere",
        "Two 3090s with NVLink, same container and flags as a friend. He gets 83 tok/s and 463 tok/s prefill, I get "
        "76 and 421. Everything is 10 % lower, at any context length. Which flag is it?",
        "reconstructed",
        stack(server, "2x NVIDIA GeForce RTX 3090 24 GB, NVLink bridge", "Qwen3-32B AWQ"),
        ("hardware", "power"),
        _HW001_POWER_CAP,
        hosts={"box": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=topology(2, near="NV4"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("A friend's identical box gives 83 tok/s decoding and 463 tok/s in prefill.",),
    )


_HW002_HOT_CARD = Answer(
    "diagnosed",
    causes=("HW002",),
    must_not_support=(*_OTHERS, "HW001", "HW004", "IC004"),
    ruled_out=("CG001", "KV001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("gpus.csv",),
    note="GPU 2 is at 91 C with hardware thermal slowdown and 1005 MHz of 1980; the other three wait for it in every "
    "all-reduce.",
    ref="made up",
)


def hw002_hot_card() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=4)
    scene = Scene("hw002-hot-card", server, "2026-07-28T15:02:16")
    scene.start(load_s=57)
    load = Load((32,), 34.5, 800, 500, prefill_ms_per_k=78)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 60)
    hot = Gpu(99, 301, clock_mhz=1005, temperature_c=91, reasons=HW_THERMAL | HW_SLOWDOWN)
    gpus = [Gpu(99, 356, temperature_c=63), Gpu(99, 351, temperature_c=62), hot, Gpu(99, 349, temperature_c=64)]
    return Incident(
        "hw002-hot-card",
        "Slow in the afternoon, fine in the morning",
        "70B on four H100. In the morning 1.4k tok/s at 32 users, in the afternoon 850, same traffic. Restarting "
        "does not help.",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B FP8"),
        ("hardware", "thermal"),
        _HW002_HOT_CARD,
        hosts={"node": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("At 07:00 the same load gave 1391 tok/s.",),
    )


_HW003_FOREIGN_JOB = Answer(
    "diagnosed",
    causes=("HW003",),
    also_accepted=("IC001", "IC003"),
    must_not_support=("CG001", "KV001", "KV002", "PP001", "CP001", "LB001", "HW001", "HW002", "HW004"),
    ruled_out=("CG001", "KV001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph",),
    evidence=("gpu_processes.csv",),
    note="A python process of 12.7 GB that is not the server's works on GPU 1, at full power, while the other three "
    "wait; start-up warned of unbalanced memory.",
    ref="made up",
)


def hw003_foreign_job() -> Incident:
    server = Server("0.5.10", QWEN3_32B, L40S, tp=4, flags={"--mem-fraction-static": "0.6"})
    scene = Scene("hw003-foreign-job", server, "2026-05-15T10:38:53")
    unbalanced = (
        "The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
        "pre_model_load_memory=31.06, local_gpu_memory=43.5, local_gpu_memory * 0.9=39.15"
    )
    scene.start(load_s=29, at_init=(nccl.ALLREDUCE_REFUSED,))
    for tp in (0, 2, 3):
        scene.log.line(unbalanced, Rank(0, tp), scene.log.init_s)
    load = Load((16,), 58, 600, 500, prefill_ms_per_k=155)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 60)
    gpus = [Gpu(97, 212), Gpu(100, 341, extra_mib=12740, clock_mhz=1980), Gpu(97, 209), Gpu(96, 214)]
    pids = [(i, 3100 + i, "sglang::scheduler_TP" + str(i), 27860) for i in range(4)]
    return Incident(
        "hw003-foreign-job",
        "Somebody else's training on one of four cards",
        "Qwen3-32B on four L40S got slow this week: 270 tok/s at 16 users instead of 480. I already lowered "
        "mem-fraction because it would not start any more.",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Qwen3-32B"),
        ("hardware", "shared"),
        _HW003_FOREIGN_JOB,
        hosts={
            "box": scene.host(
                gpus__csv=scene.gpus(gpus),
                topology__txt=topology(4),
                gpu_processes__csv=gpu_processes([*pids, (1, 88214, "python train_lora.py", 12740)]),
            )
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


CASES = (
    hw001_power_cap,
    hw002_hot_card,
    hw003_foreign_job,
)
