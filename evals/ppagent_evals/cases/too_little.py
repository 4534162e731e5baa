"""Recordings that cannot tell: a part of the log, one node of two, an end without a reason."""

from dataclasses import replace
from functools import partial

from ppagent_evals.writing.base import Case, write
from ppagent_evals.writing.bases import DP_ATTENTION_R1, TP2_PP2_70B, TP4_70B, TWO_NODES_PP2_R1
from ppagent_evals.writing.incident import Answer, Incident, artifacts, stack
from ppagent_evals.writing.lines import Prefill, prefill_line
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import batch_ranks
from ppagent_evals.writing.startup import before_load, load_weights, pools

_NO_GUESS = ("PP001", "PP002", "PP003", "PP004", "CG001", "CG002", "KV001", "KV002", "IC001", "HW001", "HW004", "CP001")

_PREFILLS_ONLY = Answer(
    "not_enough_evidence",
    note="Eleven prefill lines of a server that somebody calls slow. How it decodes, under what load and with which "
    "arguments is not there; one decode line and the launch command would begin to tell.",
    ref="made up",
    also_accepted=("PR001",),
    must_not_support=(*_NO_GUESS, "PP005", "PP006", "LB001"),
    forbidden_changes=("--chunked-prefill-size", "--disable-cuda-graph", "--tp-size"),
)


def too_little_prefills_only() -> Incident:
    server = TP4_70B.server
    scene = Scene("too-little-prefills-only", server, "2026-10-06T16:11:20")
    for n in range(11):
        scene.log.at += 1.7
        batch = Prefill(
            1, 640 + 13 * n, 64, f"token usage: {0.02 + 0.001 * n:.2f}, ", n % 4, 0, input_tokens_per_s=380.0 + n
        )
        for rank in batch_ranks(server):
            scene.log.line(prefill_line(server.version, batch), rank)
    files = artifacts(server, scene.log.text())
    return Incident(
        "too-little-prefills-only",
        "Eleven lines from a chat window",
        "A customer pasted this from his SGLang log and says that it has been slower since last week. What should he "
        "change?",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B FP8"),
        ("control", "not-enough-evidence"),
        _PREFILLS_ONLY,
        hosts={"box": {"server.log": files["server.log"]}},
    )


_NO_REASON = Answer(
    "not_enough_evidence",
    note="A scheduler of PP1 went, and what it said before is not in the excerpt; dmesg and the card's state were not "
    "recorded. The lines above the kill would tell.",
    ref="made up",
    must_not_support=(*_NO_GUESS, "PP008", "CG005", "LA001", "LA003", "IC002"),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static", "--watchdog-timeout"),
)


def _killed(scene: Scene) -> None:
    scene.log.at += 0.7
    scene.log.line("Received sigquit from a child process. It usually means the child failed.")
    scene.log.raw("Killed")


NO_REASON = Case(
    "too-little-killed-without-reason",
    TP2_PP2_70B,
    "The end of a log, and the reason cut off",
    "It has been up for nine days and died just now. Should I switch the graphs off, or give it less memory?",
    ("control", "not-enough-evidence", "crash", "pp"),
    _NO_REASON,
    "2026-09-17T23:12:02",
    after=_killed,
    without=("bench.jsonl", "gpus.csv", "server_info.json", "metrics", "topology.txt"),
    origin="synthetic",
)

_SECOND_NODE_ONLY = Answer(
    "not_enough_evidence",
    note="Node 1 waits for the others to join and says nothing more. Whether node 0 runs, crashed or listens elsewhere "
    "only its own log can say.",
    ref="made up",
    must_not_support=(*_NO_GUESS, "PP008", "IC002", "IC005", "CG005"),
    forbidden_changes=("--disable-cuda-graph", "--tp-size", "--pp-size"),
)


def too_little_second_node_only() -> Incident:
    server = replace(TWO_NODES_PP2_R1.server, node=1)
    scene = Scene("too-little-second-node-only", server, "2026-06-11T19:05:31")
    before_load(scene.log)
    kept = [line for line in scene.log.text().splitlines() if "Init torch distributed ends" not in line]
    return Incident(
        "too-little-second-node-only",
        "A node that waits, and the other one's log missing",
        "Our second node prints `Init torch distributed begin.` and then nothing for ten minutes. What is wrong with "
        "it?",
        "synthetic",
        stack(server, TWO_NODES_PP2_R1.gpus, TWO_NODES_PP2_R1.model),
        ("control", "not-enough-evidence", "multi-node", "pp"),
        _SECOND_NODE_ONLY,
        hosts={"node1": artifacts(server, "\n".join(kept) + "\n")},
        stated=("Nothing was printed for ten minutes after the last line.",),
    )


_IDLE_DP = Answer(
    "not_enough_evidence",
    note="Loaded, captured, ready, and not one request since: nothing was recorded of the hour that was slow.",
    ref="made up",
    must_not_support=(*_NO_GUESS, "CG004", "LB001", "LB002", "LB003"),
    forbidden_changes=("--load-balance-method", "--disable-cuda-graph", "--max-running-requests"),
)


def too_little_idle_ranks() -> Incident:
    server = DP_ATTENTION_R1.server
    scene = Scene("too-little-idle-ranks", server, "2026-05-19T05:55:14")
    before_load(scene.log)
    load_weights(scene.log, 208)
    pools(scene.log)
    return Incident(
        "too-little-idle-ranks",
        "A restart that tidied the evidence away",
        "The eight ranks were very uneven this morning, so we restarted the server. Which flag makes them even?",
        "synthetic",
        stack(server, DP_ATTENTION_R1.gpus, DP_ATTENTION_R1.model),
        ("control", "not-enough-evidence", "dp-attention"),
        _IDLE_DP,
        hosts={"node": artifacts(server, scene.log.text(), topology__txt=DP_ATTENTION_R1.topology)},
    )


CASES = (
    too_little_prefills_only,
    partial(write, NO_REASON),
    too_little_second_node_only,
    too_little_idle_ranks,
)
