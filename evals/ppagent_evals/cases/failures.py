"""Hardware that fails."""

from ppagent_evals.writing.cards import L40S
from ppagent_evals.writing.gpus import (
    spread,
)
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.machine import commands
from ppagent_evals.writing.models import LLAMA_70B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

_HW004_FALLEN_OFF_THE_BUS = Answer(
    "diagnosed",
    causes=("HW004",),
    must_not_support=("PP008", "CG001", "CG005", "KV001", "LA003", "IC002", "PP001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph", "--watchdog-timeout"),
    evidence=("dmesg.txt",),
    note="Xid 79 at the second of the crash: the card fell off the bus. The launch failure is what the process saw "
    "of it.",
    ref="made up; Xid wording as NVIDIA's driver prints it",
)


_HW004_FALLEN_OFF_THE_BUS_CRASH = (
    "Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/srt/managers/scheduler.py", line 3571, in run_scheduler_process\n'
    "    scheduler.event_loop_pp()\n"
    '  File "/opt/sglang/srt/managers/scheduler_pp_mixin.py", line 118, in event_loop_pp\n'
    "    d2h_event.synchronize()\n"
    "torch.AcceleratorError: CUDA error: unspecified launch failure"
)


def hw004_fallen_off_the_bus() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, L40S, tp=2, pp=2, flags={"--pp-max-micro-batch-size": "8"})
    scene = Scene("hw004-fallen-off-the-bus", server, "2026-04-19T02:41:08")
    scene.start(load_s=53)
    scene.serve(Load((8, 8), 74, 500, 700, prefill_ms_per_k=120), 14)
    log = scene.log
    log.at += 0.4
    log.line(_HW004_FALLEN_OFF_THE_BUS_CRASH, Rank(1, 0))
    log.at += 1
    log.line("Received sigquit from a child process. It usually means the child failed.")
    dmesg = (
        "[Sun Apr 19 02:43:21 2026] NVRM: GPU at PCI:0000:c1:00: GPU-5f0b2f8e-1b7d-7c1c-0a51-2a7f3f0f9d11\n"
        "[Sun Apr 19 02:43:21 2026] NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
        "off "
        "the bus.\n[Sun Apr 19 02:43:21 2026] NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.\n"
    )
    smi = "Unable to determine the device handle for GPU2: 0000:C1:00.0: Unknown Error\n"
    return Incident(
        "hw004-fallen-off-the-bus",
        "A crash in the middle of the night with a CUDA error",
        "The server died at 02:43 with an unspecified launch failure on PP1. It has been up for weeks. Is that an "
        "SGLang bug, should I try it with CUDA graphs off?",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Llama-3.3-70B FP8"),
        ("hardware", "crash"),
        _HW004_FALLEN_OFF_THE_BUS,
        hosts={
            "box": scene.host(
                dmesg__txt=dmesg,
                gpus__csv=scene.gpus(spread(88, 231, 4)),
                commands__jsonl=commands([(["nvidia-smi"], smi)]),
            )
        },
    )


CASES = (hw004_fallen_off_the_bus,)
