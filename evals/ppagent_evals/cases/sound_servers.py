"""Servers with nothing wrong, where somebody thinks there is."""

from functools import partial

from ppagent_evals.writing.base import Case, write
from ppagent_evals.writing.bases import (
    DP_ATTENTION_R1,
    ONE_CARD_8B,
    PP4_32B,
    TP2_PP2_70B,
    TP4_70B,
    TWO_NODES_PP2_235B,
)
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import Answer

_NOTHING_WRONG = ("CG001", "CG002", "CG003", "KV001", "KV002", "KV005", "HW001", "HW002", "IC002", "CP001")

SOUND_TP2_PP2 = Case(
    "sound-tp2-pp2",
    TP2_PP2_70B,
    "Two stages of two cards each under a full load",
    "24 clients on a 70B model with --tp 2 --pp 2. I read that under pipeline parallelism half of the cards idle. "
    "Do mine, and which flag would cure it?",
    ("control", "healthy", "pp", "tp"),
    Answer(
        "healthy",
        note="Twelve requests in each of the two slots, graphs replayed, no queue, all four cards near 260 W.",
        ref="made up; a stage's time from its weights over the card's bandwidth",
        also_accepted=("LB001", "IC001", "IC003"),
        must_not_support=(*_NOTHING_WRONG, "PP001", "PP002", "PP003", "PP004"),
        ruled_out=("PP001", "CG001", "KV001"),
        forbidden_changes=("--pp-max-micro-batch-size", "--pp-async-batch-depth", "--disable-cuda-graph"),
        evidence=("server.log",),
    ),
    "2026-09-08T10:14:40",
)

SOUND_DP_ATTENTION = Case(
    "sound-dp-attention",
    DP_ATTENTION_R1,
    "Eight data-parallel ranks that share the work evenly",
    "R1 with DP attention, 192 clients. The sum over the ranks is 192 and a colleague says that the graphs only hold "
    "for small batches. Are we above the captured sizes?",
    ("control", "healthy", "dp-attention"),
    Answer(
        "healthy",
        note="Every rank runs 23 to 25 requests from graphs (captured up to 512), nothing waits.",
        ref="made up; step time in the range published for this model",
        also_accepted=("LB001",),
        must_not_support=(*_NOTHING_WRONG, "CG004", "LB002", "LB003", "IC001", "IC005"),
        ruled_out=("CG001", "KV001"),
        forbidden_changes=("--cuda-graph-max-bs", "--disable-cuda-graph", "--load-balance-method"),
        evidence=("server.log",),
    ),
    "2026-04-28T08:20:09",
    ranks=tuple({"slots": (count,)} for count in (24, 25, 24, 23, 24, 24, 25, 23)),
)

SOUND_TWO_NODES = Case(
    "sound-two-nodes-pp2",
    TWO_NODES_PP2_235B,
    "A pipeline over two nodes that is as fast as it should be",
    "We run Qwen3-235B over two H20 nodes, TP4 in each and a stage on each. Everybody warns of spanning nodes. Is the "
    "network what limits our 970 tok/s?",
    ("control", "healthy", "pp", "tp", "multi-node"),
    Answer(
        "healthy",
        note="Tensor parallelism stays inside each node, only hidden states cross; both slots hold 24 requests, the "
        "queue is empty, and the cards of both nodes draw the same.",
        ref="made up",
        also_accepted=("LB001",),
        must_not_support=(*_NOTHING_WRONG, "IC005", "IC001", "IC004", "PP001", "PP003", "PP004", "PP009", "PP007"),
        ruled_out=("CG001", "KV001", "PP001"),
        forbidden_changes=("--tp-size", "--pp-size", "--pp-async-batch-depth", "--disable-cuda-graph"),
        evidence=("server.log",),
    ),
    "2026-07-30T13:02:51",
    stated=("The nodes are joined by 400 Gbit/s InfiniBand.",),
)

SOUND_FIRST_PP = Case(
    "sound-047-one-card",
    ONE_CARD_8B,
    "An old SGLang on one card",
    "We still run SGLang 0.4.7 with an 8B model on one L40S: 24 clients, about 900 tok/s. Is anything wrong with the "
    "settings, apart from the age?",
    ("control", "healthy"),
    Answer(
        "healthy",
        note="Graphs up to 160, 24 running of 24 in flight, no queue, the card at 280 of 350 W.",
        ref="made up; log forms of sglang 0.4.7",
        also_accepted=("LB001",),
        must_not_support=(*_NOTHING_WRONG, "KR001", "KR002", "KV004", "LA004"),
        ruled_out=("CG001", "KV001"),
        forbidden_changes=("--disable-cuda-graph", "--attention-backend", "--max-running-requests"),
        evidence=("server.log",),
    ),
    "2025-07-02T09:41:12",
    server={"version": "0.4.7", "flags": {"--enable-metrics": "true"}},
)

SOUND_FIRST_LINE = Case(
    "sound-first-line-after-idle",
    PP4_32B,
    "0.39 tok/s in the log, for one line",
    "After a quiet half hour 64 clients began, and the log says `gen throughput (token/s): 0.39`. 0.39 tok/s from four "
    "L40S! Which flag is it?",
    ("control", "healthy", "pp", "misread"),
    Answer(
        "healthy",
        note="The first line after idle averages over the idle time; the lines after it and the client say 740 tok/s. "
        "`False` on prefill lines is normal under a pipeline.",
        ref="line form of sgl-project/sglang#11948 (0.39, then 178.86), retold; the rest made up",
        also_accepted=("LB001", "ME001"),
        must_not_support=(*_NOTHING_WRONG, "PP001", "PP002", "PP003", "PP004", "PP007"),
        ruled_out=("PP001", "CG001", "KV001"),
        forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph", "--pp-max-micro-batch-size"),
        evidence=("server.log",),
    ),
    "2026-11-02T06:00:40",
    idle_s=1500.0,
)

SOUND_THREE_CLIENTS = Case(
    "sound-three-clients",
    TP4_70B,
    "Four H100 for three people",
    "We pay for four H100 and the dashboard shows 260 tok/s. The data sheet promises thousands. There are three of us "
    "who chat with it. What is set wrong?",
    ("control", "healthy", "tp", "load"),
    Answer(
        "healthy",
        note="Three requests in flight, three running, each at 87 tok/s from graphs, nothing waits: the load is small, "
        "not the server slow.",
        ref="made up",
        causes=("LB001",),
        must_not_support=(*_NOTHING_WRONG, "PP001", "IC001", "IC003", "LB002", "KR001", "PP009"),
        ruled_out=("CG001", "KV001"),
        forbidden_changes=("--disable-cuda-graph", "--max-running-requests", "--tp-size"),
        evidence=("server.log",),
    ),
    "2026-09-22T15:30:00",
    load={"slots": (3,), "turn_ms": 11.4},
    gpus=tuple(spread(96, 318, 4)),
    stated=("There are three of us; each waits for an answer before asking again.",),
)

CASES = tuple(
    partial(write, case)
    for case in (
        SOUND_TP2_PP2,
        SOUND_DP_ATTENTION,
        SOUND_TWO_NODES,
        SOUND_FIRST_PP,
        SOUND_FIRST_LINE,
        SOUND_THREE_CLIENTS,
    )
)
