"""Pipelines in prefill, and one that hangs."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import H20, L40S
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.models import QWEN3_32B, QWEN3_235B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

_PP005_LONG_PROMPTS = Answer(
    "diagnosed",
    causes=("PP005",),
    also_accepted=("PR001",),
    must_not_support=("PP001", "PP003", "PP006", "KV001", "CG001", "IC001", "HW001"),
    ruled_out=("KV001", "CG001"),
    fixes=(fix(prefill_decode_interval="1..16"), fix(chunked_prefill_size="512..4096"), OPERATOR),
    forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--chunked-prefill-size=-1"),
    evidence=("server.log",),
    note="While a chunked prompt is under way every slot runs prefill: eight chunks of 8192 tokens, no decode line, "
    "then decoding at 27 ms again.",
    ref="made up; the scheduling is that of sglang's PP loop",
)


def pp005_long_prompts() -> Incident:
    server = Server("0.5.20", QWEN3_235B_FP8, H20, pp=4, flags={"--pp-max-micro-batch-size": "4"})
    scene = Scene("pp005-long-prompts", server, "2026-10-05T10:44:13")
    scene.start(load_s=151)
    load = Load((4,) * 4, 27.5, 400, 2500, prefill_ms_per_k=80)
    scene.serve(load, 2.4)
    for _ in range(3):
        scene.schedulers[0].long_prompt(load, 61440, 118)
        scene.serve(load, 2.4, after_s=0)
    row: Row = {
        "tool": "own chat client",
        "max_concurrency": 16,
        "random_input_len": 400,
        "random_output_len": 2500,
        "output_throughput": 154.6,
        "mean_ttft_ms": 3410.0,
        "mean_itl_ms": 103.9,
        "median_itl_ms": 27.6,
        "p99_itl_ms": 7180.0,
        "mean_tpot_ms": 103.9,
        "completed": 64,
    }
    return Incident(
        "pp005-long-prompts",
        "Chat freezes whenever a long document comes in",
        "16 chat users plus a batch job that sends a 60k-token document every ten seconds. Chat text freezes for "
        "about seven seconds each time. Between the freezes it is quick.",
        "synthetic",
        stack(server, "4x NVIDIA H20 96 GB", "Qwen3-235B-A22B FP8"),
        ("pp", "prefill"),
        _PP005_LONG_PROMPTS,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(97, 305, 4)), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl([row])},
    )


_PP006_CHUNKING_OFF = Answer(
    "diagnosed",
    causes=("PP006",),
    also_accepted=("PP002", "PR001"),
    must_not_support=("PP001", "PP003", "PP005", "KV001", "KV002", "CG001", "IC001"),
    ruled_out=("KV001", "CG001"),
    fixes=(fix(chunked_prefill_size="1024..16384"), fix(unset=("--chunked-prefill-size",))),
    forbidden_changes=("--pp-max-micro-batch-size", "--disable-cuda-graph"),
    evidence=("server.log", "launch.txt"),
    note="--chunked-prefill-size -1 makes one batch of 60000 tokens, so one stage works at a time: 7.3 s is four "
    "times 1.8 s. With chunks the stages overlap, as the second measurement shows.",
    ref="made up: 33k tok/s a stage",
)


def pp006_chunking_off() -> Incident:
    flags = {"--chunked-prefill-size": "-1", "--max-running-requests": "64"}
    server = Server("0.5.8", QWEN3_235B_FP8, H20, pp=4, flags=flags)
    scene = Scene("pp006-chunking-off", server, "2026-02-03T13:27:06")
    scene.start(load_s=149)
    load = Load((1,), 16.5, 60000, 48, prefill_ms_per_k=122, spread=0.1)
    scene.serve(load, 60)
    row = measured(scene.serve_unseen(load, 120), load)
    after: Row = {**row, "mean_ttft_ms": 2684.0, "output_throughput": 13.9, "mean_e2e_latency_ms": 3460.0}
    return Incident(
        "pp006-chunking-off",
        "A long prompt crosses the stages in one piece",
        "One analyst at a time asks about 60k-token reports. First token takes more than seven seconds, and I can "
        "watch the four cards light up one after the other.",
        "synthetic",
        stack(server, "4x NVIDIA H20 96 GB", "Qwen3-235B-A22B FP8"),
        ("pp", "prefill"),
        _PP006_CHUNKING_OFF,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(31, 189, 4)), topology__txt=topology(4, near="NV18"))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(after, set_={"--chunked-prefill-size": "4096"})]),
        },
    )


def _stuck(log: Log, stage: int, frames: tuple[str, ...]) -> None:
    """What the watchdog of one stage prints."""
    rank, pid = Rank(stage, 0), 3120 + stage
    log.line(
        f"Pyspy dump for PID {pid}:\nProcess {pid}: sglang::scheduler_PP{stage}\nThread {pid} (idle): "
        f'"MainThread"\n' + "\n".join(f"    {frame}" for frame in frames),
        rank,
    )
    log.line("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", rank)


_WAITS = (
    "recv_object (sglang/srt/distributed/parallel_state.py:1117)",
    "recv_tensor_dict (sglang/srt/distributed/parallel_state.py:1281)",
    "_pp_recv_dict_from_prev_stage (sglang/srt/managers/scheduler_pp_mixin.py:1014)",
    "event_loop_pp (sglang/srt/managers/scheduler_pp_mixin.py:92)",
    "run_scheduler_process (sglang/srt/managers/scheduler.py:3571)",
)


_PP008_STAGE_HANGS = Answer(
    "diagnosed",
    causes=("PP008",),
    must_not_support=("HW004", "PP001", "PP003", "PP004", "CG005", "KV001", "IC002"),
    ruled_out=("CG001", "KV001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--watchdog-timeout", "--disable-cuda-graph", "--pp-async-batch-depth"),
    evidence=("server.log",),
    note="PP1 logged last about a second before the others and printed no watchdog: it is the silent one. Those with "
    "stacks merely wait for what it did not send.",
    ref="made up; forms of sglang 0.5.10 utils/watchdog.py",
)


def pp008_stage_hangs() -> Incident:
    server = Server("0.5.10", QWEN3_32B, L40S, pp=4, flags={"--pp-max-micro-batch-size": "8"})
    scene = Scene("pp008-stage-hangs", server, "2026-04-25T03:12:31")
    scene.start(load_s=63)
    scene.serve(Load((8,) * 4, 86.0, 500, 700, prefill_ms_per_k=52), 7)
    log = scene.log
    last = [pair for pair in log.lines if " PP1]" in pair[1] and pair[0] > log.at - 1.2]
    for pair in last:
        log.lines.remove(pair)
    log.at += 0.5
    for _ in range(9):
        log.at += 45
        log.line('INFO:     10.0.0.12:41277 - "GET /health HTTP/1.1" 503 Service Unavailable')
    for stage in (2, 3, 0):
        log.at += 1.5
        _stuck(log, stage, _WAITS)
    log.at += 5
    log.line("Received sigquit from a child process. It usually means the child failed.")
    return Incident(
        "pp008-stage-hangs",
        "Generation stopped at night, watchdogs of three stages fired",
        "The server hung at 03:14 and died seven minutes later. The tracebacks say PP2, PP3 and PP0 are stuck in a "
        "receive, so is the card of PP2 broken?",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Qwen3-32B"),
        ("pp", "hang"),
        _PP008_STAGE_HANGS,
        hosts={"box": scene.host(topology__txt=topology(4))},
    )


CASES = (pp005_long_prompts, pp006_chunking_off, pp008_stage_hangs)
