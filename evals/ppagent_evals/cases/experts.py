"""Expert parallelism: slower by nature, or badly balanced."""

from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import H20_3E, H200
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_NVSWITCH = topology(8, near="NV18", far="NV18")


_EXPERTS_SLOWER_THAN_TENSORS = Answer(
    "not_enough_evidence",
    also_accepted=("LB003",),
    must_not_support=("CG001", "CG002", "CG004", "KV001", "KV002", "PP001", "IC001", "IC005", "HW001", "CP001"),
    ruled_out=("CG001", "KV001"),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    note="That TP is faster here is measured; why is not: neither the balance of the experts nor a trace of dispatch "
    "and combine was recorded. The list has no cause for EP being the wrong axis at this scale.",
    ref="sgl-project/sglang#6823 (2,033 / 3,002 tok/s in total, TTFT and TPOT); log rebuilt",
)


_EXPERTS_SLOWER_THAN_TENSORS_ROW: Row = {
    "backend": "sglang",
    "dataset_name": "random",
    "max_concurrency": 128,
    "random_input_len": 1024,
    "random_output_len": 1024,
    "output_throughput": 1016.5,
    "total_throughput": 2033.0,
    "mean_ttft_ms": 9254.0,
    "mean_tpot_ms": 117.0,
}


def experts_slower_than_tensors() -> Incident:
    flags = {"--trust-remote-code": "true", "--moe-a2a-backend": "deepep", "--deepep-mode": "auto"}
    server = Server("0.5.3", DEEPSEEK_R1, H20_3E, tp=8, ep=8, flags=flags)
    scene = Scene("experts-slower-than-tensors", server, "2025-09-18T16:26:47")
    scene.start(load_s=214)
    load = Load((128,), 106, 1024, 1024, prefill_ms_per_k=62)
    scene.serve(load, 22)
    plain: Row = {
        **_EXPERTS_SLOWER_THAN_TENSORS_ROW,
        "output_throughput": 1501.0,
        "total_throughput": 3002.0,
        "mean_ttft_ms": 6465.0,
        "mean_tpot_ms": 79.0,
    }
    return Incident(
        "experts-slower-than-tensors",
        "Expert parallelism on eight cards loses against plain TP",
        "R1 on 8x H20-3e: DeepEP 2,033 tok/s in and out, plain TP8 3,002 at 128 concurrent. Everybody says EP is the "
        "way for MoE. What is wrong with my EP server?",
        "reconstructed",
        stack(server, "8x NVIDIA H20-3e 141 GB", "DeepSeek-R1"),
        ("ep", "not-enough-evidence"),
        _EXPERTS_SLOWER_THAN_TENSORS,
        hosts={"node": scene.host(gpus__csv=scene.gpus(spread(99, 287, 8)), topology__txt=_NVSWITCH)},
        files={
            "bench.jsonl": jsonl([_EXPERTS_SLOWER_THAN_TENSORS_ROW]),
            "relaunches.jsonl": jsonl([relaunch(plain, unset=["--moe-a2a-backend", "--ep-size", "--deepep-mode"])]),
        },
    )


_LB003_HOT_EXPERTS = Answer(
    "diagnosed",
    causes=("LB003",),
    must_not_support=("IC001", "IC004", "CG001", "CG004", "KV001", "KV002", "PP001", "HW001", "HW002"),
    ruled_out=("CG001", "KV001"),
    fixes=(fix(enable_eplb="true"), fix(ep_num_redundant_experts="8..64"), fix(init_expert_location="*")),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("server.log",),
    note="Balancedness 0.34: the busiest rank does three times the mean, and the others wait for it in dispatch and "
    "combine.",
    ref="made up; line form of sglang 0.5.10 eplb/expert_distribution.py",
)


_LB003_HOT_EXPERTS_FLAGS = {
    "--trust-remote-code": "true",
    "--moe-a2a-backend": "deepep",
    "--deepep-mode": "auto",
    "--enable-expert-distribution-metrics": "true",
    "--expert-distribution-recorder-mode": "stat",
    "--enable-metrics": "true",
}


def lb003_hot_experts() -> Incident:
    server = Server("0.5.10", DEEPSEEK_R1, H200, tp=8, ep=8, flags=_LB003_HOT_EXPERTS_FLAGS)
    scene = Scene("lb003-hot-experts", server, "2026-05-02T08:07:18")
    scene.start(load_s=209)
    load = Load((192,), 71, 800, 700, prefill_ms_per_k=44)
    scene.schedulers[0].counters.balance = 0.34
    scene.serve(load, 16)
    log = scene.log
    for n in range(6):
        value = 0.34 + log.rng.uniform(-0.03, 0.03)
        log.line(
            f"[Expert Balancedness] forward_pass_id={4200 + 40 * n} current_pass_balancedness={value:.03f} "
            f"last_10_average_balancedness=0.341 last_100_average_balancedness=0.338 gpu_physical_count_sum=8943600",
            next(iter(server.ranks())),
            log.at - 12 + 2 * n,
        )
    done = scene.serve_unseen(load, 75, scrape_every=25)
    return Incident(
        "lb003-hot-experts",
        "Dispatch takes most of the step, on cards that wait for one",
        "Code-review traffic on an EP8 R1. Step time is 71 ms at 192 running, twice our chat cluster with the same "
        "flags. In a trace dispatch and combine take 60 % of the step. Is NVLink slow?",
        "synthetic",
        stack(server, "8x NVIDIA H200", "DeepSeek-R1-0528"),
        ("ep", "balance"),
        _LB003_HOT_EXPERTS,
        hosts={
            "node": scene.host(gpus__csv=scene.gpus(spread(98, 371, 8)), topology__txt=_NVSWITCH)
            | dict(scene.metrics())
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


CASES = (
    experts_slower_than_tensors,
    lb003_hot_experts,
)
