"""Admission and balance: who may run, where, and who has nothing to do."""

from ppagent_evals.writing.bench import jsonl, measured, measured_over_ranks
from ppagent_evals.writing.cards import A100_80, H100, H200
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import GLM_5_FP8, LLAMA_70B_FP8, QWEN3_32B, QWEN3_NEXT
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NVSWITCH = topology(8, near="NV18", far="NV18")


_KV002_ONE_SLOT_SHORT = Answer(
    "diagnosed",
    causes=("KV002",),
    must_not_support=("KV001", "KV005", "LB001", "LB002", "CG001", "CG004", "PP001", "PP003", "IC001"),
    ruled_out=("KV001", "LB002", "CG001"),
    fixes=(fix(max_running_requests="136..4096"), fix(unset=("--max-running-requests",)), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--schedule-conservativeness", "--load-balance-method"),
    evidence=("server.log",),
    note="The cap is 128 // 8 = 16 a rank and a prompt in chunks counts twice in it, so one place stays empty. The "
    "pool is nearly empty. A cap a little higher than wanted works round it.",
    ref="sgl-project/sglang#30294, #38118, #30295 (15 of 16, one queued); log rebuilt",
)


def kv002_one_slot_short() -> Incident:
    flags = {"--max-running-requests": "128", "--trust-remote-code": "true", "--mem-fraction-static": "0.85"}
    server = Server("0.5.14", GLM_5_FP8, H200, tp=8, dp=8, dp_attention=True, flags=flags)
    scene = Scene("kv002-one-slot-short", server, "2026-07-15T21:08:44")
    scene.start(load_s=236)
    load = Load((15,), 41, 1024, 512, offered=16, prefill_ms_per_k=160)
    scene.serve(load, 6)
    scene.leave_out_ramp()
    scene.serve(load, 14, after_s=0)
    scene.serve_unseen(load, 60)
    return Incident(
        "kv002-one-slot-short",
        "Every rank runs fifteen and keeps one waiting",
        "--max-running-requests 128 with 8 DP ranks should give 16 each. Every rank sits at 15 running and 1 queued, "
        "all day long. 128 clients.",
        "reconstructed",
        stack(server, "8x NVIDIA H200", "GLM-5 FP8"),
        ("admission", "dp-attention"),
        _KV002_ONE_SLOT_SHORT,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(99, 441, 8)),
                topology__txt=_NVSWITCH,
                server_info__json=scene.info(),
                loads__json=scene.loads(),
            )
        },
        files={"bench.jsonl": jsonl([measured_over_ranks(scene.done, load, 128)])},
    )


_KV003_CAP_REDUCED_AT_START = Answer(
    "diagnosed",
    causes=("KV003",),
    also_accepted=("KV002",),
    must_not_support=("KV001", "KV005", "CG001", "LB001", "PP001", "IC001", "HW001"),
    ruled_out=("CG001",),
    fixes=(
        fix(mamba_full_memory_ratio="*"),
        fix(max_mamba_cache_size="*"),
        fix(mem_fraction_static="0.81..0.95"),
        fix(mamba_ssm_dtype="bfloat16"),
        fix(context_length="*"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests=513..4096"),
    evidence=("server.log",),
    note="The state cache of the linear-attention layers has 336 slots, three a request, so start-up cut 512 to 112 "
    "and said so. Asking for more changes nothing.",
    ref="made up; the rule is in sglang 0.5.14 model_runner_kv_cache_mixin.py",
)


def kv003_cap_reduced_at_start() -> Incident:
    flags = {"--max-running-requests": "512", "--mem-fraction-static": "0.8"}
    server = Server(
        "0.5.14", QWEN3_NEXT, H100, tp=4, flags=flags, mamba_slots=336, effective={"max_mamba_cache_size": 336}
    )
    scene = Scene("kv003-cap-reduced-at-start", server, "2026-07-09T12:33:26")
    reduced = (
        "max_running_requests was reduced from the requested 512 to 112 (per dp worker) due to the available KV cache "
        "capacity."
    )
    scene.start(load_s=64, notes=(reduced,))
    load = Load((112,), 19.6, 500, 450, offered=384, prefill_ms_per_k=21)
    scene.serve(load, 9)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "kv003-cap-reduced-at-start",
        "512 were asked for and 112 are served",
        "Launched with --max-running-requests 512, yet no more than 112 ever run and nearly 300 wait. The flag seems "
        "to be ignored.",
        "synthetic",
        stack(server, "4x NVIDIA H100 80 GB", "Qwen3-Next-80B-A3B"),
        ("admission", "requested-not-effective", "hybrid"),
        _KV003_CAP_REDUCED_AT_START,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(99, 470, 4)), topology__txt=topology(4, near="NV18"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_KV005_CONSERVATIVE = Answer(
    "diagnosed",
    causes=("KV005",),
    must_not_support=("KV001", "KV002", "KV003", "PP003", "CG001", "LB001", "IC001"),
    ruled_out=("KV001", "KV002", "CG001"),
    fixes=(fix(schedule_conservativeness="0.01..1.0"), fix(unset=("--schedule-conservativeness",))),
    forbidden_changes=("--disable-cuda-graph", "--mem-fraction-static"),
    evidence=("server.log", "launch.txt"),
    note="Conservativeness 3.0 starts every burst with a reserve for all of the 4096 tokens that each request may "
    "ask for, so about fifty run, far below the cap of 2048, with 0.2 of the pool in use.",
    ref="made up; admission simulated by the rule of sglang 0.5.10 schedule_policy.py",
)


def kv005_conservative() -> Incident:
    flags = {"--schedule-conservativeness": "3.0", "--enable-metrics": "true"}
    server = Server("0.5.10", LLAMA_70B_FP8, H100, tp=2, flags=flags)
    scene = Scene("kv005-conservative", server, "2026-04-29T19:02:15")
    scene.start(load_s=51)
    load = Load(
        (256,), 24, 700, 260, offered=128, prefill_ms_per_k=58, admit_by_kv=True, max_new=4096, first_alone=False
    )
    scene.serve(load, 6)
    other = Load(
        (256,), 24, 700, 261, offered=128, prefill_ms_per_k=58, admit_by_kv=True, max_new=4096, first_alone=False
    )
    done = scene.serve(other, 7.5, after_s=20, scrape_every=2.4)
    return Incident(
        "kv005-conservative",
        "Bursts wait although four fifths of the cache are free",
        "Bursts of 128 short answers. Most of a burst waits in the queue while token usage is below 0.3. There is no "
        "running limit set. Clients always send max_tokens=4096.",
        "synthetic",
        stack(server, "2x NVIDIA H100 80 GB", "Llama-3.3-70B FP8"),
        ("admission",),
        _KV005_CONSERVATIVE,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(97, 463, 2), before_end_s=6, count=3), server_info__json=scene.info()
            )
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_LB002_STICKY_RANKS = Answer(
    "diagnosed",
    causes=("LB002",),
    also_accepted=("KV002",),
    must_not_support=("KV001", "CG001", "LB001", "PP001", "PP003", "IC001", "HW001", "HW003"),
    ruled_out=("KV001", "CG001"),
    fixes=(fix(load_balance_method="total_requests"), fix(load_balance_method="total_tokens"), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--tp-size"),
    evidence=("server.log",),
    note="Ranks 0 and 1 run their full 32 and keep 26 and 29 waiting, while ranks 4 to 7 run one to six: round robin "
    "of requests of very different length.",
    ref="made up",
)


def lb002_sticky_ranks() -> Incident:
    flags = {"--load-balance-method": "round_robin", "--max-running-requests": "256"}
    server = Server("0.5.10", QWEN3_32B, A100_80, tp=8, dp=8, dp_attention=True, flags=flags)
    scene = Scene("lb002-sticky-ranks", server, "2026-04-11T08:19:57")
    scene.start(load_s=36)
    waiting = (58, 61, 32, 19, 6, 3, 2, 1)
    loads = [Load((min(n, 32),), 47, 900, 700, offered=n, prefill_ms_per_k=180) for n in waiting]
    scene.serve(loads, 7)
    scene.leave_out_ramp()
    scene.serve(loads, 20, after_s=0)
    return Incident(
        "lb002-sticky-ranks",
        "Two DP ranks with queues, four with almost nothing",
        "8 DP ranks, about 180 requests in flight, total throughput is half of what we had on Monday. Some users get "
        "20 tok/s at once and others wait half a minute.",
        "synthetic",
        stack(server, "8x NVIDIA A100 80 GB", "Qwen3-32B"),
        ("balance", "dp-attention"),
        _LB002_STICKY_RANKS,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus([Gpu(99, w) for w in (341, 338, 335, 301, 243, 229, 224, 219)]),
                topology__txt=topology(8, near="NV12", far="NV12"),
                loads__json=scene.loads(),
            )
        },
    )


CASES = (kv002_one_slot_short, kv003_cap_reduced_at_start, kv005_conservative, lb002_sticky_ranks)
