"""Crashes as people report them in public: what ended the server stands in its own log, and not always more."""

from ppagent_evals.writing.capture import capture
from ppagent_evals.writing.cards import A100_80, H100, H200, RTX_3090
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, artifacts, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, QWEN3_8B, QWEN25_05B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server
from ppagent_evals.writing.startup import before_load, capacity, load_weights, pools

_SIGQUIT = "Received sigquit from a child process. It usually means the child failed."
_HIT = "Scheduler hit an exception: Traceback (most recent call last):\n"
_PERFORMANCE = ("CG001", "CG002", "KV001", "KV002", "LB001", "IC001", "CP001", "PP001", "PR001", "SP001", "ME001")

_SP003_EAGLE3_WITHOUT_DRAFT = Answer(
    "diagnosed",
    causes=("SP003",),
    also_accepted=("LA001",),
    must_not_support=("LA002", "LA003", "LA004", "CG005", "IC002", "HW004", *_PERFORMANCE),
    fixes=(OPERATOR, fix(unset=("--speculative-algorithm",))),
    forbidden_changes=("--mem-fraction-static", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="Without --speculative-draft-model-path the target's checkpoint is loaded as the draft, which for EAGLE3 is "
    "none: its class lacks what the draft worker sets.",
    ref="sgl-project/sglang#36528 (the reporter's reading of the code); log rebuilt",
)


def sp003_eagle3_without_draft() -> Incident:
    flags = {
        "--speculative-algorithm": "EAGLE3",
        "--speculative-num-steps": "3",
        "--speculative-eagle-topk": "1",
        "--speculative-num-draft-tokens": "4",
    }
    server = Server("0.5.16", QWEN25_05B, H100, flags=flags)
    scene = Scene("sp003-eagle3-without-draft", server, "2026-08-26T10:12:44")
    before_load(scene.log)
    load_weights(scene.log, 4)
    load_weights(scene.log, 4)
    crash = (
        f"{_HIT}"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 4002, in run_scheduler_process\n'
        "    scheduler = Scheduler(\n"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 1004, in maybe_init_draft_worker\n'
        "    self.draft_worker = DraftWorkerClass(\n"
        "AttributeError: 'Qwen2ForCausalLM' object has no attribute 'set_embed'"
    )
    scene.log.line(crash)
    scene.log.at += 1
    scene.log.line(_SIGQUIT)
    return Incident(
        "sp003-eagle3-without-draft",
        "An attribute error at start, with speculation on",
        "EAGLE3 from the docs, on a small model first. It crashes while starting, no request was sent. A bug?",
        "reconstructed",
        stack(server, "1x NVIDIA H100 80 GB", "Qwen2.5-0.5B"),
        ("speculation", "launch", "crash"),
        _SP003_EAGLE3_WITHOUT_DRAFT,
        hosts={"node": artifacts(server, scene.log.text())},
    )


_HW004_TOLD_BY_CUDA = Answer(
    "diagnosed",
    causes=("HW004",),
    must_not_support=("LA001", "LA003", "CG005", "PP008", "IC002", *_PERFORMANCE),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static", "--watchdog-timeout"),
    evidence=("server.log",),
    note="CUDA itself says that a card's memory has an uncorrectable error. The kernel log was not recorded; it would "
    "name the card. On other hardware the same launch ran.",
    ref="sgl-project/sglang#3204 (log), vllm-project/vllm#5222 (what it was); log rebuilt",
)


def hw004_told_by_cuda() -> Incident:
    server = Server("0.5.10", QWEN3_8B, A100_80, tp=8)
    scene = Scene("hw004-told-by-cuda", server, "2026-01-29T08:50:02")
    scene.start(load_s=41)
    scene.serve(Load((6,), 12, 400, 300), 6)
    crash = (
        f"{_HIT}"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 3571, in run_scheduler_process\n'
        "    scheduler.event_loop_overlap()\n"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 1290, in event_loop_overlap\n'
        "    self.process_batch_result(tmp_batch, tmp_result)\n"
        "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"
    )
    scene.log.at += 0.6
    scene.log.line(crash, Rank(0, 5))
    scene.log.at += 1
    scene.log.line(_SIGQUIT)
    return Incident(
        "hw004-told-by-cuda",
        "A CUDA error after some requests",
        "Eight A100, TP8. It answers for a while and dies. Which flag do I have to change?",
        "reconstructed",
        stack(server, "8x NVIDIA A100 80 GB", "Qwen3-8B"),
        ("hardware", "crash"),
        _HW004_TOLD_BY_CUDA,
        hosts={"box": artifacts(server, scene.log.text())},
    )


_HW003_UNEQUAL_ENDED_START = Answer(
    "diagnosed",
    causes=("HW003",),
    must_not_support=("LA001", "LA003", "LA004", "IC002", "HW004", *_PERFORMANCE),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph",),
    evidence=("server.log",),
    note="A server left over holds a third of one card. In this version unequal free memory ends the start; later it "
    "is a warning.",
    ref="sgl-project/sglang#1533, #4233 (a maintainer: stop what holds the memory), #5426; log rebuilt",
)


def hw003_unequal_ended_start() -> Incident:
    server = Server("0.4.7", QWEN3_8B, RTX_3090, tp=2)
    scene = Scene("hw003-unequal-ended-start", server, "2025-05-02T18:40:07")
    before_load(scene.log)
    kept = [pair for pair in scene.log.lines if "distributed ends" not in pair[1]]
    scene.log.lines[:] = kept
    crash = (
        f"{_HIT}"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 2297, in run_scheduler_process\n'
        "    scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, pp_rank, dp_rank)\n"
        '  File "/opt/sglang/srt/model_executor/model_runner.py", line 378, in init_torch_distributed\n'
        "    raise ValueError(\n"
        "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
        "min_per_gpu_memory=14.8046875, local_gpu_memory=23.302490234375, local_gpu_memory * 0.9=20.9722412109375"
    )
    scene.log.line(crash, Rank(0, 1))
    scene.log.at += 1
    scene.log.line(_SIGQUIT)
    return Incident(
        "hw003-unequal-ended-start",
        "A start that ends with unbalanced memory",
        "There is enough memory on both cards for this model, and vLLM starts. Why does this refuse?",
        "reconstructed",
        stack(server, "2x NVIDIA GeForce RTX 3090 24 GB", "Qwen3-8B"),
        ("hardware", "launch", "crash"),
        _HW003_UNEQUAL_ENDED_START,
        hosts={"rig": artifacts(server, scene.log.text())},
    )


_PP008_WARM_UP_HANGS = Answer(
    "diagnosed",
    causes=("PP008",),
    must_not_support=("LA001", "LA002", "LA003", "HW004", "IC002", "CG005", *_PERFORMANCE),
    fixes=(OPERATOR,),
    forbidden_changes=("--watchdog-timeout", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="The first request never comes back: every stage after the first stands in a receive. Why stage 0 sends "
    "nothing is not in this log.",
    ref="sgl-project/sglang#17941 (dumps of stages 1 and 2, stacks in the receive); log rebuilt, pids made up",
)


def pp008_warm_up_hangs() -> Incident:
    server = Server("0.5.8", DEEPSEEK_R1, H200, tp=2, pp=4, flags={"--trust-remote-code": "true"})
    scene = Scene("pp008-warm-up-hangs", server, "2026-01-29T12:58:10")
    log = scene.log
    before_load(log)
    load_weights(log, 480)
    pools(log)
    capture(log)
    capacity(log)
    log.at += 301
    for stage in (1, 2, 3):
        log.line(
            "Scheduler debug info:\nscheduler.cur_batch.batch_size()=1\nself.max_total_num_tokens=1180096, "
            "available_size=1180032, evictable_size=0, protected_size=0",
            Rank(stage, 0),
        )
        log.line(
            f"Pyspy dump for PID {88600 + stage}:\nPython v3.12.3 (/usr/bin/python3.12)\n\n"
            f'Thread {88600 + stage} (idle): "MainThread"\n'
            "    recv_object (distributed/parallel_state.py:1050)\n"
            "    recv_tensor_dict (distributed/parallel_state.py:1228)\n"
            "    _pp_recv_proxy_tensors (scheduler_pp_mixin.py:933)\n"
            "    event_loop_pp (scheduler_pp_mixin.py:95)\n"
            "    run_scheduler_process (scheduler.py:2972)",
            Rank(stage, 0),
        )
    return Incident(
        "pp008-warm-up-hangs",
        "A start that stands still at its first request",
        "DeepSeek with four stages hangs during the warm-up and the watchdog ends it. With TP8 it starts. What is it?",
        "reconstructed",
        stack(server, "8x NVIDIA H200 141 GB", "DeepSeek-R1 (V3.2 in the report)"),
        ("pp", "hang", "crash"),
        _PP008_WARM_UP_HANGS,
        hosts={"node": artifacts(server, log.text())},
    )


_ILLEGAL_ACCESS = Answer(
    "not_enough_evidence",
    must_not_support=("HW004", "LA001", "LA003", "CG005", "PP008", "SP003", "IC002", *_PERFORMANCE),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static", "--watchdog-timeout"),
    note="A kernel of the verify step went wrong: a defect of that version, which is none of the listed causes. What "
    "can be said is the error, its rank, and that the kernel log would tell a card's fault from a program's.",
    ref="sgl-project/sglang#8336 (closed as a bug of the version); log rebuilt",
)


def too_little_illegal_access() -> Incident:
    flags = {
        "--speculative-algorithm": "NEXTN",
        "--speculative-num-steps": "3",
        "--speculative-eagle-topk": "1",
        "--speculative-num-draft-tokens": "4",
    }
    server = Server("0.4.10", DEEPSEEK_R1, H200, tp=8, flags=flags)
    scene = Scene("too-little-illegal-access", server, "2025-07-25T07:44:03")
    scene.start(load_s=310, draft=("DeepseekV3ForCausalLMNextN", 9.4))
    scene.serve(Load((3,), 26, 900, 500, accept=(2.6, 0.53)), 5)
    crash = (
        f"{_HIT}"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 2769, in run_scheduler_process\n'
        "    scheduler.event_loop_normal()\n"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 772, in event_loop_normal\n'
        "    result = self.run_batch(batch)\n"
        '  File "/opt/sglang/srt/speculative/eagle_worker.py", line 325, in forward_batch_speculative_generation\n'
        "    self.verify(batch, spec_info)\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered"
    )
    scene.log.at += 0.5
    scene.log.line(crash, Rank(0, 2))
    scene.log.at += 1
    scene.log.line(_SIGQUIT)
    return Incident(
        "too-little-illegal-access",
        "A crash that no cause on the list explains",
        "It crashes after some minutes with MTP. Is the GPU broken, or which setting is wrong?",
        "reconstructed",
        stack(server, "8x NVIDIA H200 141 GB", "DeepSeek-R1"),
        ("control", "not-enough-evidence", "crash"),
        _ILLEGAL_ACCESS,
        hosts={"node": artifacts(server, scene.log.text())},
    )


CASES = (
    sp003_eagle3_without_draft,
    hw004_told_by_cuda,
    hw003_unequal_ended_start,
    pp008_warm_up_hangs,
    too_little_illegal_access,
)
