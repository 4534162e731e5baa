"""Speculative decoding that costs more than it saves, or holds requests back."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import H100, H200
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import LLAMA_70B_FP8, QWEN35_122B_FP8
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_DRAFT = "/models/EAGLE3-Llama-3.3-70B"
_RESET = (
    "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly setting "
    "--max-running-requests."
)


_SP001_DRAFT_OF_ANOTHER_DOMAIN = Answer(
    "diagnosed",
    causes=("SP001",),
    must_not_support=("SP002", "SP003", "CG001", "KV001", "KV002", "IC001", "PP001", "HW001", "LB001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(unset=("--speculative-algorithm",)),
        fix(speculative_num_draft_tokens="2..8"),
        fix(speculative_num_steps="1..2"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--speculative-num-steps=6..16"),
    evidence=("server.log",),
    note="accept len 1.14 with 32 draft tokens: nearly every step pays for the draft and verifies for one token. "
    "Without speculation the same load measured 1098 tok/s.",
    ref="made up",
)


def sp001_draft_of_another_domain() -> Incident:
    flags = {
        "--speculative-algorithm": "EAGLE3",
        "--speculative-draft-model-path": _DRAFT,
        "--speculative-num-steps": "5",
        "--speculative-eagle-topk": "8",
        "--speculative-num-draft-tokens": "32",
        "--max-running-requests": "64",
    }
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=4, flags=flags)
    scene = Scene("sp001-draft-of-another-domain", server, "2026-04-16T14:05:57")
    scene.start(load_s=61, draft=("LlamaForCausalLMEagle3", 0.79))
    load = Load((24,), 52, 600, 500, prefill_ms_per_k=51, accept=(1.14, 0.03))
    scene.serve(load, 26)
    row = measured(scene.serve_unseen(load, 60), load, accept_length=1.14)
    plain: Row = {**row, "output_throughput": 1098.0, "mean_tpot_ms": 21.6, "accept_length": None}
    return Incident(
        "sp001-draft-of-another-domain",
        "Speculation with a draft that guesses wrong",
        "We turned EAGLE3 on for our legal Dutch texts because it doubles throughput in every benchmark. 24 users "
        "get 500 tok/s in total now, and I think it was more before.",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B FP8 with EAGLE3"),
        ("speculation",),
        _SP001_DRAFT_OF_ANOTHER_DOMAIN,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(98, 511, 4)), topology__txt=topology(4, near="NV18"))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl([relaunch(plain, unset=["--speculative-algorithm"])]),
        },
    )


_SP001_COLLAPSE_AT_EIGHT = Answer(
    "diagnosed",
    causes=("SP001",),
    must_not_support=("SP002", "SP003", "CG001", "KV001", "KV002", "IC001", "PP001", "HW001", "LB001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(speculative_num_steps="1..3"),
        fix(speculative_num_draft_tokens="2..4"),
        fix(unset=("--speculative-algorithm",)),
    ),
    forbidden_changes=("--disable-cuda-graph", "--speculative-num-steps=7..16"),
    evidence=("server.log", "relaunches.jsonl"),
    note="accept len 1.06: six draft steps are paid for and almost none is kept. Two steps kept 2.31 and measured "
    "232 tok/s.",
    ref="vllm-project/vllm#49548 (232 tok/s static at 8, 24-157 in the bad setting), retold for SGLang",
)


_SP001_COLLAPSE_AT_EIGHT_FLAGS = {
    "--speculative-algorithm": "NEXTN",
    "--speculative-num-steps": "6",
    "--speculative-eagle-topk": "1",
    "--speculative-num-draft-tokens": "7",
    "--trust-remote-code": "true",
    "--max-running-requests": "32",
}


def sp001_collapse_at_eight() -> Incident:
    server = Server(
        "0.5.14",
        QWEN35_122B_FP8,
        H200,
        tp=2,
        flags=_SP001_COLLAPSE_AT_EIGHT_FLAGS,
        mamba_slots=160,
        effective={"speculative_algorithm": "EAGLE"},
    )
    scene = Scene("sp001-collapse-at-eight", server, "2026-07-24T09:31:14")
    scene.start(load_s=55, draft=("Qwen3_5MoeForCausalLMMTP", 1.64))
    load = Load((8,), 89, 900, 700, prefill_ms_per_k=60, accept=(1.06, 0.01), jitter=0.2)
    scene.serve(load, 30)
    row = measured(scene.serve_unseen(load, 60), load, accept_length=1.06)
    static: Row = {**row, "output_throughput": 232.0, "mean_tpot_ms": 33.8, "accept_length": 2.31}
    return Incident(
        "sp001-collapse-at-eight",
        "Multi-token prediction with too many steps",
        "Qwen3.5-122B with its MTP head. With 2 steps we had 232 tok/s at 8 concurrent. I raised the steps to 6 to "
        "get more out of it and now it is below 100, changing from minute to minute.",
        "synthetic",
        stack(server, "2x NVIDIA H200", "Qwen3.5-122B-A10B FP8"),
        ("speculation", "mtp"),
        _SP001_COLLAPSE_AT_EIGHT,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(97, 402, 2)), topology__txt=topology(2, near="NV18"))},
        files={
            "bench.jsonl": jsonl([row]),
            "relaunches.jsonl": jsonl(
                [
                    relaunch(static, set_={"--speculative-num-steps": "2", "--speculative-num-draft-tokens": "3"}),
                ]
            ),
        },
    )


_SP002_FORTY_EIGHT = Answer(
    "diagnosed",
    causes=("SP002",),
    also_accepted=("KV002",),
    must_not_support=("SP001", "SP003", "KV001", "KV005", "CG001", "LB001", "PP001", "PP003", "IC001"),
    ruled_out=("KV001", "SP001", "CG001"),
    fixes=(fix(max_running_requests="64..4096"), fix(unset=("--speculative-algorithm",))),
    forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness"),
    evidence=("server.log",),
    note="Speculation sets max_running_requests to 48 where none is given, and says so at start. Acceptance is good, "
    "so a higher cap is the first thing to try.",
    ref="made up; the rule is in sglang 0.5.10 server_args.py",
)


def sp002_forty_eight() -> Incident:
    flags = {
        "--speculative-algorithm": "EAGLE3",
        "--speculative-draft-model-path": _DRAFT,
        "--speculative-num-steps": "3",
        "--speculative-eagle-topk": "1",
        "--speculative-num-draft-tokens": "4",
    }
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=4, flags=flags, effective={"max_running_requests": 48})
    scene = Scene("sp002-forty-eight", server, "2026-04-23T20:47:02")
    scene.start(load_s=61, warnings=(_RESET,), draft=("LlamaForCausalLMEagle3", 0.79))
    load = Load((48,), 33, 600, 500, offered=160, prefill_ms_per_k=51, accept=(2.71, 0.57))
    scene.serve(load, 18)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "sp002-forty-eight",
        "Never more than 48 at a time since speculation is on",
        "With EAGLE3 single users are much faster. But in the evening 160 users queue up and the server runs exactly "
        "48 of them, with the cache nearly empty. I never set a limit.",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Llama-3.3-70B FP8 with EAGLE3"),
        ("speculation", "admission"),
        _SP002_FORTY_EIGHT,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(98, 534, 4)),
                topology__txt=topology(4, near="NV18"),
                server_info__json=scene.info(),
            )
        },
        files={"bench.jsonl": jsonl([measured(done, load, accept_length=2.71)])},
    )


CASES = (sp001_draft_of_another_domain, sp001_collapse_at_eight, sp002_forty_eight)
