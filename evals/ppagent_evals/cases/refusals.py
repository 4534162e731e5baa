"""Launches that are refused."""

from ppagent_evals.writing.cards import A100_80, H100
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, artifacts, fix, stack
from ppagent_evals.writing.models import KIMI_K25, LLAMA_70B, QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server
from ppagent_evals.writing.startup import before_load, load_weights, pools

_USAGE = "usage: launch_server.py [-h] --model-path MODEL_PATH [--tokenizer-path TOKENIZER_PATH]\n"


_SIGQUIT = "Received sigquit from a child process. It usually means the child failed."


_LA001_MIXED_CHUNK_UNDER_PIPELINE = Answer(
    "diagnosed",
    causes=("LA001",),
    must_not_support=("LA002", "LA003", "LA004", "PP001", "CG001", "KV001"),
    fixes=(fix(unset=("--enable-mixed-chunk",)), OPERATOR),
    forbidden_changes=("--disable-overlap-schedule", "--pp-async-batch-depth"),
    evidence=("server.log",),
    note="Up to 0.5.10 a pipeline refuses mixed chunk; from 0.5.11 it is allowed. Overlap is switched off by itself.",
    ref="sgl-project/sglang#10589, #22920; rule in 0.5.5 server_args.py",
)


def la001_mixed_chunk_under_pipeline() -> Incident:
    flags = {"--enable-mixed-chunk": "true", "--chunked-prefill-size": "4096"}
    server = Server("0.5.5", LLAMA_70B, H100, pp=4, flags=flags)
    log = (
        "[2025-11-24 09:14:02] Attention backend not explicitly specified. Use fa3 backend by default.\n"
        "[2025-11-24 09:14:02] Pipeline parallelism is incompatible with overlap schedule.\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/sglang/launch_server.py", line 29, in <module>\n    run_server(server_args)\n'
        '  File "/opt/sglang/srt/entrypoints/engine.py", line 741, in _launch_subprocesses\n'
        "    server_args.check_server_args()\n"
        '  File "/opt/sglang/srt/server_args.py", line 3691, in check_server_args\n    assert (\n'
        "AssertionError: Pipeline parallelism is not compatible with overlap schedule, speculative decoding, mixed "
        "chunked "
        "prefill.\n"
    )
    return Incident(
        "la001-mixed-chunk-under-pipeline",
        "An assertion about three features of which one was asked for",
        "It refuses to start and names overlap schedule, speculative decoding and mixed chunk. I use none of the "
        "first two. A blog recommends --enable-mixed-chunk for latency.",
        "reconstructed",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B"),
        ("launch", "pp", "version"),
        _LA001_MIXED_CHUNK_UNDER_PIPELINE,
        hosts={"node": artifacts(server, log)},
    )


_LA002_MODEL_WITHOUT_PIPELINE = Answer(
    "diagnosed",
    causes=("LA002",),
    must_not_support=("LA001", "LA003", "LA004", "PP001", "CG001", "KV001", "HW004"),
    fixes=(OPERATOR, fix(tp_size="16", unset=("--pp-size",)), fix(tp_size="16", pp_size="1")),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static"),
    evidence=("server.log",),
    note="The wrapper class of this model takes no pipeline tensors in 0.5.8. A later version does; otherwise TP "
    "over both nodes.",
    ref="sgl-project/sglang#18925, #19503, #18433; log rebuilt",
)


def la002_model_without_pipeline() -> Incident:
    flags = {"--trust-remote-code": "true", "--tool-call-parser": "kimi_k2", "--reasoning-parser": "kimi_k2"}
    server = Server("0.5.8", KIMI_K25, H100, tp=8, pp=2, nnodes=2, flags=flags)
    scene = Scene("la002-model-without-pipeline", server, "2026-02-11T08:33:20")
    before_load(scene.log)
    load_weights(scene.log, 3390)
    pools(scene.log)
    crash = (
        "Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 2963, in run_scheduler_process\n'
        "    scheduler = Scheduler(\n"
        '  File "/opt/sglang/srt/model_executor/model_runner.py", line 392, in __init__\n    assert (\n'
        "AssertionError: Pipeline Parallel is not compatible with this model."
    )
    scene.log.at += 2
    for rank in list(server.ranks())[:2]:
        scene.log.line(crash, rank)
    scene.log.line(_SIGQUIT)
    return Incident(
        "la002-model-without-pipeline",
        "An hour of loading, then an assertion",
        "Kimi K2.5 on two H100 nodes with --pp-size 2. It loads for almost an hour and then says the model is not "
        "compatible with PP. Do I need other flags?",
        "reconstructed",
        stack(server, "2 nodes x 8x NVIDIA H100 80 GB", "Kimi K2.5"),
        ("launch", "pp", "version"),
        _LA002_MODEL_WITHOUT_PIPELINE,
        hosts={"node0": artifacts(server, scene.log.text())},
    )


def _argparse(name: str, server: Server, message: str) -> dict[str, str]:
    return artifacts(
        server, _USAGE + f"                        [--tp-size TP_SIZE] ...\nlaunch_server.py: error: {message}\n"
    )


_LA004_RENAMED_FLAG = Answer(
    "diagnosed",
    causes=("LA004",),
    must_not_support=("LA001", "LA002", "LA003", "PP001", "PP003", "CG001"),
    fixes=(fix(pp_max_micro_batch_size="4"),),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="--max-micro-batch-size became --pp-max-micro-batch-size after 0.5.3, and the old name is an error.",
    ref="made up; sgl-project/sglang#11279 for the rename",
)


def la004_renamed_flag() -> Incident:
    server = Server("0.5.10", QWEN3_32B, A100_80, pp=4, flags={"--max-micro-batch-size": "4"})
    return Incident(
        "la004-renamed-flag",
        "A flag that worked before the upgrade",
        "After upgrading from 0.5.2 the same start script exits at once with a usage text. What changed?",
        "synthetic",
        stack(server, "4x NVIDIA A100 80 GB", "Qwen3-32B"),
        ("launch", "version", "pp"),
        _LA004_RENAMED_FLAG,
        hosts={"box": _argparse("old", server, "unrecognized arguments: --max-micro-batch-size 4")},
    )


_LA004_AMBIGUOUS_FLAG = Answer(
    "diagnosed",
    causes=("LA004",),
    must_not_support=("LA001", "LA002", "LA003", "CG001", "CG002", "CG005"),
    fixes=(fix(cuda_graph_max_bs_decode="64"),),
    forbidden_changes=("--disable-cuda-graph", "--cuda-graph-max-bs-prefill"),
    evidence=("server.log",),
    note="From 0.5.20 the setting exists for each phase only; the one meant is --cuda-graph-max-bs-decode.",
    ref="made up; flags of sglang 0.5.19 and 0.5.20",
)


def la004_ambiguous_flag() -> Incident:
    server = Server("0.5.20", QWEN3_32B, A100_80, tp=2, flags={"--cuda-graph-max-bs": "64"})
    message = (
        "ambiguous option: --cuda-graph-max-bs could match --cuda-graph-max-bs-decode, --cuda-graph-max-bs-prefill"
    )
    return Incident(
        "la004-ambiguous-flag",
        "A flag that is now the beginning of two others",
        "sglang 0.5.20 says my option is ambiguous. I just want graphs up to 64 like before.",
        "synthetic",
        stack(server, "2x NVIDIA A100 80 GB", "Qwen3-32B"),
        ("launch", "version", "cuda-graph"),
        _LA004_AMBIGUOUS_FLAG,
        hosts={"box": _argparse("old", server, message)},
    )


CASES = (
    la001_mixed_chunk_under_pipeline,
    la002_model_without_pipeline,
    la004_renamed_flag,
    la004_ambiguous_flag,
)
