"""Two causes in one server, of which either alone looks like the whole story."""

from functools import partial

from ppagent_evals.writing.base import Case, write
from ppagent_evals.writing.bases import ONE_CARD_8B, PP4_32B, TP4_70B, TP4_70B_PCIE
from ppagent_evals.writing.gpus import HW_SLOWDOWN, HW_THERMAL, Gpu
from ppagent_evals.writing.incident import OPERATOR, Answer, fix
from ppagent_evals.writing.machine import host, processes

CAP_AND_LINK = Case(
    "both-cap-and-narrow-link",
    TP4_70B_PCIE,
    "A cap of eight, and a card at x4",
    "56 clients on four L40S: most wait, and those that run are slow as well. We limited the running requests to "
    "eight because of that. Was it right?",
    ("two-causes", "admission", "hardware"),
    Answer(
        "diagnosed",
        causes=("KV002", "IC004"),
        also_accepted=("IC001", "IC003"),
        must_not_support=("KV001", "KV005", "CG001", "CG002", "LB001", "HW001", "HW002", "PP001", "CP001"),
        ruled_out=("KV001", "CG001"),
        fixes=(OPERATOR, fix(max_running_requests="16..4096"), fix(unset=("--max-running-requests",))),
        forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness", "--mem-fraction-static"),
        evidence=("server.log", "gpus.csv"),
        note="48 of 56 wait behind a cap of 8 with 3 % of the pool in use; and GPU 1 runs at x4 of x16 under load, for "
        "which every all-reduce waits.",
        ref="made up",
    ),
    "2026-10-01T11:25:17",
    server={"flags": {"--max-running-requests": "8", "--enable-metrics": "true"}},
    load={"slots": (8,), "turn_ms": 74.0, "offered": 56, "prefill_ms_per_k": 410},
    gpus=(Gpu(99, 166), Gpu(97, 151, width=4), Gpu(99, 169), Gpu(99, 168)),
)

FILL_AND_HEAT = Case(
    "both-one-slot-and-a-hot-card",
    PP4_32B,
    "A pipeline that fills one slot, with a hot card in it",
    "28 clients on PP4 get 330 tok/s and each card is at about a quarter. GPU 2 is hot, so we ordered a fan. Is that "
    "it?",
    ("two-causes", "pp", "hardware"),
    Answer(
        "diagnosed",
        causes=("PP001", "HW002"),
        also_accepted=("PP004",),
        must_not_support=("PP002", "PP003", "CG001", "KV001", "KV002", "HW001", "HW004", "LB001"),
        ruled_out=("PP003", "CG001", "KV001"),
        fixes=(fix(pp_max_micro_batch_size="5..9"),),
        forbidden_changes=("--pp-async-batch-depth", "--disable-cuda-graph"),
        evidence=("server.log", "gpus.csv"),
        note="All 28 requests sit in one slot of four, so each stage works a quarter of the time; and GPU 2 throttles "
        "at 93 C to half its clock, which a filled pipeline would feel even more.",
        ref="made up",
    ),
    "2026-11-03T14:40:05",
    server={"flags": {"--decode-log-interval": "37", "--enable-metrics": "true"}},
    load={"slots": (28,), "turn_ms": 85.0},
    gpus=(
        Gpu(27, 118),
        Gpu(26, 116),
        Gpu(31, 109, clock_mhz=1215, temperature_c=93, reasons=HW_THERMAL | HW_SLOWDOWN),
        Gpu(27, 121),
    ),
)


def _above_ceiling_ms(running: int) -> float:
    return 22.0 + 0.1 * running if running <= 32 else 46.0 + 0.16 * running


POOL_AND_CEILING = Case(
    "both-pool-and-graph-ceiling",
    ONE_CARD_8B,
    "Retractions, and steps without graphs",
    "Long answers for 96 clients on one L40S: TPOT is more than twice what 24 clients see, and now and then an answer "
    "stops for seconds.",
    ("two-causes", "kv-cache", "cuda-graph"),
    Answer(
        "diagnosed",
        causes=("KV001", "CG002"),
        also_accepted=("KV004",),
        must_not_support=("CG001", "CG003", "KV002", "KV005", "LB001", "HW001", "IC001", "PP001"),
        ruled_out=("CG001",),
        fixes=(
            fix(max_running_requests="8..64"),
            fix(cuda_graph_max_bs_decode="64..4096"),
            fix(kv_cache_dtype="fp8_e4m3"),
            fix(kv_cache_dtype="fp8_e5m2"),
            fix(mem_fraction_static="0.88..0.97"),
            fix(schedule_conservativeness="1.1..4"),
        ),
        forbidden_changes=("--disable-cuda-graph", "--max-running-requests=128..4096"),
        evidence=("server.log",),
        note="The pool holds about 45 of these requests at full length and more are let in, so some are thrown out "
        "again; and every step of more than 32 runs without a graph.",
        ref="made up; ceiling and admission by the rules of sglang 0.5.18",
    ),
    "2026-08-26T20:11:48",
    server={"version": "0.5.18"},
    load={
        "slots": (256,),
        "turn_by_running": _above_ceiling_ms,
        "graph": lambda running: running <= 32,
        "output_len": 3200,
        "offered": 96,
        "admit_by_kv": True,
        "max_new": 3200,
        "spread": 0,
    },
    served_s=120.0,
    bench={"p99_tpot_ms": 238.0, "median_tpot_ms": 55.1},
)

_SLOW = "Using a slow tokenizer. This might cause a significant slowdown. Consider using a fast tokenizer instead."
_RESET = (
    "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly setting "
    "--max-running-requests."
)
_EAGLE = {
    "--speculative-algorithm": "EAGLE3",
    "--speculative-draft-model-path": "/models/EAGLE3-Llama-3.3-70B",
    "--speculative-num-steps": "3",
    "--speculative-eagle-topk": "1",
    "--speculative-num-draft-tokens": "4",
    "--tokenizer-mode": "slow",
}

_SERVER = {"version": "0.5.9", "flags": _EAGLE, "effective": {"max_running_requests": 48}}

SPECULATION_AND_TOKENIZER = Case(
    "both-speculation-cap-and-slow-tokenizer",
    TP4_70B,
    "48 at a time, and a client that sees half the speed",
    "140 users since we turned EAGLE3 on: two thirds wait, and those who are served see 41 ms between tokens where the "
    "log's figures say 16. Is speculation a mistake?",
    ("two-causes", "speculation", "cpu"),
    Answer(
        "diagnosed",
        causes=("SP002", "CP002"),
        also_accepted=("KV002",),
        must_not_support=("SP001", "SP003", "KV001", "KV005", "CG001", "LB001", "IC001", "PP001"),
        ruled_out=("KV001", "SP001", "CG001"),
        fixes=(
            fix(max_running_requests="64..4096"),
            fix(tokenizer_mode="auto"),
            fix(unset=("--tokenizer-mode",)),
            fix(tokenizer_worker_num="2..16"),
        ),
        forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness"),
        evidence=("server.log",),
        note="Speculation sets the running cap to 48 and 92 wait with the pool nearly empty; and a slow tokenizer with "
        "one process at a full core stands between 16 ms in the engine and 41 ms at the client.",
        ref="made up; the rule is in sglang 0.5.9 server_args.py, the tokenizer's part after sgl-project/sglang#23393",
    ),
    "2026-03-19T18:02:33",
    server=_SERVER,
    load={"slots": (48,), "turn_ms": 42.0, "offered": 140, "accept": (2.64, 0.55), "prefill_ms_per_k": 51},
    start={"warnings": (_SLOW, _RESET), "draft": ("LlamaForCausalLMEagle3", 0.79)},
    bench={"mean_itl_ms": 41.3, "median_itl_ms": 40.6, "mean_tpot_ms": 41.1, "accept_length": 2.64},
    more={
        "processes__json": processes(
            TP4_70B.server, [71.0, 66.0, 65.0, 66.0], tokenizer_cpu=100.2, detokenizer_cpu=99.1
        ),
        "host__json": host("AMD EPYC 9454 48-Core Processor", cores=96),
    },
)

CASES = tuple(
    partial(write, case) for case in (CAP_AND_LINK, FILL_AND_HEAT, POOL_AND_CEILING, SPECULATION_AND_TOKENIZER)
)
