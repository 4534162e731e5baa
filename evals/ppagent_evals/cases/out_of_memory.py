"""Launches that run out of memory."""

from ppagent_evals.writing.cards import A100_80, PRO_6000
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, artifacts, fix, stack
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.models import GLM_5_NVFP4, QWEN3_235B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server
from ppagent_evals.writing.startup import before_load, load_weights

_SIGQUIT = "Received sigquit from a child process. It usually means the child failed."


_LA003_LAST_STAGE_OUT_OF_MEMORY_CRASH = (
    "Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/srt/managers/scheduler.py", line 2770, in run_scheduler_process\n'
    "    scheduler = Scheduler(\n"
    '  File "/opt/sglang/srt/layers/moe/fused_moe_triton/layer.py", line 211, in create_weights\n'
    "    torch.empty(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 7 has a total capacity of 79.25 "
    "GiB of "
    "which 834.56 MiB is free. Including non-PyTorch memory, this process has 78.42 GiB memory in use."
)


def la003_last_stage_out_of_memory() -> Incident:
    server = Server("0.5.5", QWEN3_235B, A100_80, pp=8, flags={"--context-length": "16384"})
    scene = Scene("la003-last-stage-out-of-memory", server, "2025-11-15T17:10:55")
    before_load(scene.log)
    load_weights(scene.log, 262)
    last = Rank(7, 0)
    tags = server.tags(last)
    scene.log.lines[:] = [pair for pair in scene.log.lines if f"{tags}] Load weight end" not in pair[1]]
    scene.log.line(_LA003_LAST_STAGE_OUT_OF_MEMORY_CRASH, last, scene.log.at + 1)
    scene.log.line(_SIGQUIT, at=scene.log.at + 2)
    layers = Memory.of(server).layers
    return Incident(
        "la003-last-stage-out-of-memory",
        "Seven cards with room, the eighth out of memory",
        "Qwen3-235B BF16 is 470 GB and I have 8x80 GB with --pp-size 8, so 59 GB each. Still GPU 7 runs out of "
        "memory while loading. The others show only 51 GB.",
        "reconstructed",
        stack(server, "8x NVIDIA A100 80 GB", "Qwen3-235B-A22B BF16"),
        ("launch", "pp", "layer-split", "memory"),
        Answer(
            "diagnosed",
            causes=("LA003",),
            also_accepted=("PP004",),
            must_not_support=("KV001", "LA001", "LA002", "HW003", "HW004", "CG005", "PP001"),
            fixes=(fix(env={"SGLANG_PP_LAYER_PARTITION": "*"}), fix(tp_size="2..8"), OPERATOR),
            forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static=0.9..1"),
            evidence=("server.log",),
            note=f"0.5.5 splits 94 layers as {','.join(map(str, layers))}; seventeen layers of 4.6 GB do not fit. "
            "0.5.6 on gives 11 or 12 to each; here a partition by environment does it.",
            ref="sgl-project/sglang#9798, #13282 (last GPU out of memory); split rule of 0.5.5; log rebuilt",
        ),
        hosts={"node": artifacts(server, scene.log.text())},
    )


_SP003_DRAFT_LOADED_AS_SECOND_MODEL = Answer(
    "diagnosed",
    causes=("SP003",),
    also_accepted=("LA003",),
    must_not_support=("KV001", "LA001", "LA002", "LA004", "HW003", "CG005", "SP002"),
    fixes=(
        fix(env={"SGLANG_ENABLE_SPEC_V2": "True"}),
        fix(env={"SGLANG_ENABLE_SPEC_V2": "1"}),
        fix(unset=("--speculative-algorithm",)),
    ),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static=0.94..1"),
    evidence=("server.log",),
    note="NEXTN became EAGLE and a second load of the whole checkpoint began after 54 GB were in place. With "
    "SGLANG_ENABLE_SPEC_V2=True only the MTP layer is loaded.",
    ref="rtx6kpro wiki, GLM-5 page (57 GB twice); log rebuilt",
)


_SP003_DRAFT_LOADED_AS_SECOND_MODEL_CRASH = (
    "Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/srt/speculative/eagle_worker.py", line 142, in __init__\n    super().__init__(\n'
    '  File "/opt/sglang/srt/model_executor/model_runner.py", line 884, in load_model\n'
    "    self.model = self.loader.load_model(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB. GPU 0 has a total capacity of "
    "94.97 GiB of "
    "which 118.25 MiB is free. Including non-PyTorch memory, this process has 94.84 GiB memory in use."
)


_SP003_DRAFT_LOADED_AS_SECOND_MODEL_FLAGS = {
    "--speculative-algorithm": "NEXTN",
    "--speculative-num-steps": "3",
    "--speculative-eagle-topk": "1",
    "--speculative-num-draft-tokens": "4",
    "--trust-remote-code": "true",
    "--mem-fraction-static": "0.93",
}


def sp003_draft_loaded_as_second_model() -> Incident:
    server = Server(
        "0.5.9",
        GLM_5_NVFP4,
        PRO_6000,
        tp=8,
        flags=_SP003_DRAFT_LOADED_AS_SECOND_MODEL_FLAGS,
        effective={"speculative_algorithm": "EAGLE"},
    )
    scene = Scene("sp003-draft-loaded-as-second-model", server, "2026-03-18T14:49:27")
    reset = (
        "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly setting "
        "--max-running-requests."
    )
    before_load(scene.log, (reset,))
    load_weights(scene.log, 284)
    memory = Memory.of(server)
    free = memory.after_load_gib(0)
    scene.log.at += 3
    for rank in server.ranks():
        scene.log.line(f"Load weight begin. avail mem={free:.2f} GB", rank)
    scene.log.at += 171
    for rank in list(server.ranks())[:2]:
        scene.log.line(_SP003_DRAFT_LOADED_AS_SECOND_MODEL_CRASH, rank)
    scene.log.line(_SIGQUIT)
    return Incident(
        "sp003-draft-loaded-as-second-model",
        "Multi-token prediction that does not fit",
        "GLM-5 NVFP4 with NEXTN on eight 96 GB cards: 54 GB of weights each, the MTP layer is small, and it still "
        "dies with out of memory while loading. Without speculation it starts.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "GLM-5 NVFP4"),
        ("launch", "speculation", "memory"),
        _SP003_DRAFT_LOADED_AS_SECOND_MODEL,
        hosts={"node": artifacts(server, scene.log.text())},
    )


CASES = (
    la003_last_stage_out_of_memory,
    sp003_draft_loaded_as_second_model,
)
