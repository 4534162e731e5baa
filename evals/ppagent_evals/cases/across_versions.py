"""Single causes in deployments of several dimensions, from 0.4.7's days to 0.5.23."""

from functools import partial

from ppagent_evals.writing.base import Case, write
from ppagent_evals.writing.bases import DP_ATTENTION_R1, TP2_PP2_70B, TWO_NODES_PP2_R1
from ppagent_evals.writing.gpus import Gpu, spread
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, artifacts, fix, stack
from ppagent_evals.writing.models import LLAMA_70B_FP8
from ppagent_evals.writing.server import Server

LIMIT_OVER_TWO_NODES = Case(
    "pp003-limit-over-two-nodes",
    TWO_NODES_PP2_R1,
    "Four requests run on sixteen H100, and sixty wait",
    "64 clients on R1 over two nodes, TP8 and PP2. 60 of them wait for a minute while the KV cache is empty. I read "
    "that max_running_requests is per rank; is that the limit here?",
    ("pp", "tp", "multi-node", "admission"),
    Answer(
        "diagnosed",
        causes=("PP003",),
        also_accepted=("KV002", "IC001"),
        must_not_support=("PP001", "PP002", "KV001", "KV005", "CG001", "IC005", "LB001", "HW001"),
        ruled_out=("KV001", "CG001"),
        fixes=(fix(pp_max_micro_batch_size="8..512"), fix(unset=("--pp-max-micro-batch-size",))),
        forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--schedule-conservativeness"),
        evidence=("server.log", "launch.txt"),
        note="pp_max_micro_batch_size 2 in two slots lets four requests run; 60 wait with 1 % of the pool in use.",
        ref="made up; admission as in sglang 0.5.12 scheduler.py",
    ),
    "2026-06-03T12:50:44",
    server={
        "flags": {"--pp-max-micro-batch-size": "2", "--context-length": "32768", "--trust-remote-code": "true"},
    },
    load={"slots": (2, 2), "turn_ms": 41.0, "offered": 64},
    gpus=tuple(spread(97, 338, 8)),
)

_UNEVEN = (31, 30, 28, 33, 4, 3, 3, 5)

UNEVEN_RANKS = Case(
    "lb002-four-ranks-of-eight",
    DP_ATTENTION_R1,
    "Half of the data-parallel ranks do the work",
    "8 DP ranks behind our own router, which picks a rank by hash of the tenant. About 230 requests in flight, two "
    "thirds of them wait, throughput is half of the old cluster's.",
    ("balance", "dp-attention"),
    Answer(
        "diagnosed",
        causes=("LB002",),
        also_accepted=("KV002",),
        must_not_support=("CG001", "CG004", "KV001", "KV005", "LB001", "LB003", "IC001", "HW001", "PP001"),
        ruled_out=("KV001", "CG001"),
        fixes=(fix(load_balance_method="*"), OPERATOR),
        forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static"),
        evidence=("server.log",),
        note="Ranks 0 to 3 run their full share of 16 and hold dozens of waiting requests; ranks 4 to 7 run three to "
        "five and have none waiting.",
        ref="made up",
    ),
    "2026-07-14T10:33:26",
    server={
        "version": "0.5.14",
        "flags": {"--trust-remote-code": "true", "--max-running-requests": "128", "--enable-metrics": "true"},
    },
    ranks=tuple({"slots": (min(16, count),), "offered": (count + 24 if count > 16 else count)} for count in _UNEVEN),
    gpus=tuple(Gpu(99, watts) for watts in (441, 437, 433, 446, 322, 318, 317, 325)),
)

_EAGER = {"--pp-max-micro-batch-size": "12", "--disable-decode-cuda-graph": "true", "--enable-metrics": "true"}

EAGER_BY_NEW_NAME = Case(
    "cg001-by-its-new-name",
    TP2_PP2_70B,
    "A flag that was meant for the prefill",
    "Since we upgraded to 0.5.22 the same 24 clients get two thirds of what they had. We only switched one graph off, "
    "as the upgrade notes said that the prefill graphs eat memory.",
    ("cuda-graph", "pp", "tp", "version"),
    Answer(
        "diagnosed",
        causes=("CG001",),
        also_accepted=("CP001", "IC001", "IC003"),
        must_not_support=("CG002", "CG003", "PP001", "PP002", "PP003", "KV001", "KV002", "HW001", "LB001"),
        ruled_out=("PP001", "KV001"),
        fixes=(fix(unset=("--disable-decode-cuda-graph",)), fix(disable_decode_cuda_graph="false")),
        forbidden_changes=("--pp-async-batch-depth", "--attention-backend", "--pp-max-micro-batch-size"),
        evidence=("server.log", "launch.txt"),
        note="--disable-decode-cuda-graph switches the decode graphs off; the notes meant "
        "--disable-prefill-cuda-graph. Every decode line says `cuda graph: False`.",
        ref="made up; flags of sglang 0.5.22 server_args.py",
    ),
    "2026-10-20T09:00:31",
    server={"version": "0.5.22", "flags": _EAGER, "graphs_off": True},
    load={"graph": False, "turn_ms": 108.0},
    gpus=tuple(spread(81, 203, 4)),
)

_SPECULATION_REFUSED = Answer(
    "diagnosed",
    causes=("LA001",),
    must_not_support=("LA002", "LA003", "LA004", "PP001", "CG001", "KV001", "SP001", "SP003"),
    fixes=(
        fix(unset=("--speculative-algorithm",)),
        fix(tp_size="4", pp_size="1"),
        fix(tp_size="4", unset=("--pp-size",)),
        OPERATOR,
    ),
    forbidden_changes=("--disable-overlap-schedule", "--pp-async-batch-depth", "--disable-cuda-graph"),
    evidence=("server.log",),
    note="0.5.11 refuses speculation under a pipeline; the overlap schedule is switched off by itself and mixed chunk "
    "is not in that version's list.",
    ref="sgl-project/sglang#30775, #22920; rule in 0.5.11 server_args.py",
)


def la001_speculation_under_pipeline() -> Incident:
    flags = {"--speculative-algorithm": "EAGLE", "--speculative-draft-model-path": "/models/EAGLE-Llama-3.3-70B"}
    server = Server("0.5.11", LLAMA_70B_FP8, TP2_PP2_70B.server.card, tp=2, pp=2, flags=flags)
    log = (
        "[2026-05-12 08:31:10] Pipeline parallelism is incompatible with overlap schedule.\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/sglang/launch_server.py", line 52, in <module>\n    run_server(server_args)\n'
        '  File "/opt/sglang/srt/server_args.py", line 5217, in check_server_args\n    assert (\n'
        "AssertionError: Pipeline parallelism is not compatible with overlap schedule, speculative decoding\n"
    )
    return Incident(
        "la001-speculation-under-pipeline",
        "EAGLE and two stages",
        "We want both: PP because the cards only have PCIe, EAGLE because chat feels slow. It stops at once with an "
        "assertion. What do I switch off?",
        "reconstructed",
        stack(server, TP2_PP2_70B.gpus, TP2_PP2_70B.model),
        ("launch", "pp", "speculation", "version"),
        _SPECULATION_REFUSED,
        hosts={"box": artifacts(server, log)},
    )


CASES = (
    *(partial(write, case) for case in (LIMIT_OVER_TWO_NODES, UNEVEN_RANKS, EAGER_BY_NEW_NAME)),
    la001_speculation_under_pipeline,
)
