"""Tensor parallelism over PCIe."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.bench import jsonl, measured
from ppagent_evals.writing.cards import PRO_6000, PRO_6000_SERVER, RTX_3090
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import (
    GLM_52_NVFP4,
    QWEN3_32B_AWQ,
    QWEN36_27B_FP8,
)
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_IC001_SPINNING_COLLECTIVES = Answer(
    "diagnosed",
    causes=("IC001",),
    also_accepted=("IC003", "IC006", "IC002"),
    must_not_support=("CG001", "CG002", "KV001", "KV002", "PP001", "HW001", "HW002", "LB001"),
    ruled_out=("CG001", "HW001", "KV001"),
    fixes=(fix(tp_size="1..4"), fix(pp_size="2..8"), fix(env={"NCCL_PROTO": "LL"}), OPERATOR),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("gpus.csv", "server.log"),
    note="Two all-reduces a layer over PCIe, custom all-reduce refused: the SMs spin in collectives, hence 100 % at "
    "140 W. A step costs 25 ms where the weights need 11.",
    ref="local-inference-lab/rtx6kpro#25 (39.6 tok/s, 25.3 ms, 140 W), retold for SGLang; log rebuilt",
)


def ic001_spinning_collectives() -> Incident:
    server = Server("0.5.16", GLM_52_NVFP4, PRO_6000_SERVER, tp=8, flags={"--trust-remote-code": "true"})
    scene = Scene("ic001-spinning-collectives", server, "2026-07-19T16:48:30")
    scene.start(load_s=301, at_init=(nccl.ALLREDUCE_REFUSED,))
    load = Load((1,), 25.3, 900, 800, prefill_ms_per_k=180)
    scene.serve(load, 24)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "ic001-spinning-collectives",
        "All SMs busy at a quarter of the power",
        "GLM-5.2 NVFP4, TP8 on RTX PRO 6000: 39.6 tok/s for one user where others report 88. SM at 100 %, but only "
        "about 140 W of 600 W. Graphs are on. P2P latency tests look fine.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "GLM-5.2 NVFP4"),
        ("interconnect", "tp", "sm120"),
        _IC001_SPINNING_COLLECTIVES,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(100, 141, 8, temperature_c=46)),
                topology__txt=topology(8, near="PIX", group=2),
                server_info__json=scene.info(),
            )
        },
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("P2P latency is 0.44-0.53 us on all pairs and 48-55 GB/s one way.",),
    )


_IC001_NO_P2P_GEN3 = Answer(
    "diagnosed",
    causes=("IC001",),
    also_accepted=("IC002", "IC003", "IC004"),
    must_not_support=("HW001", "HW002", "CG001", "KV001", "KV002", "CP001", "PP001"),
    ruled_out=("HW001", "CG001", "KV001"),
    fixes=(
        OPERATOR,
        fix(pp_size="2"),
        fix(env={"NCCL_P2P_DISABLE": "0"}),
        fix(unset=("--disable-custom-all-reduce",)),
    ),
    forbidden_changes=("--disable-cuda-graph", "power limit to"),
    evidence=("gpus.csv", "server.log"),
    note="P2P is off, so every all-reduce goes through host memory over Gen3. Neither card reaches its cap of 290 W "
    "and they are lopsided: they wait for each other. More power would change nothing.",
    ref="noonghunna/club-3090#356 (195 and 243 W, 82 and 51 %, 50-60 tok/s), retold for SGLang; log rebuilt",
)


def ic001_no_p2p_gen3() -> Incident:
    server = Server(
        "0.5.10",
        QWEN3_32B_AWQ,
        RTX_3090,
        tp=2,
        env={"NCCL_P2P_DISABLE": "1", "NCCL_DEBUG": "INFO"},
        flags={"--disable-custom-all-reduce": "true", "--context-length": "16384"},
    )
    scene = Scene("ic001-no-p2p-gen3", server, "2026-06-14T20:31:09")
    scene.start(load_s=27)
    for rank in range(2):
        nccl.info(scene.log, rank, "NCCL_P2P_DISABLE set by environment to 1", host="x99")
        nccl.info(
            scene.log, rank, f"Channel 00 : {rank}[{rank}] -> {1 - rank}[{1 - rank}] via SHM/direct/direct", host="x99"
        )
    load = Load((1,), 18.0, 700, 600, prefill_ms_per_k=330)
    scene.serve(load, 22)
    done = scene.serve_unseen(load, 60)
    gpus = [Gpu(82, 195, limit_w=290, gen=3, clock_mhz=1830), Gpu(51, 243, limit_w=290, gen=3, clock_mhz=1845)]
    return Incident(
        "ic001-no-p2p-gen3",
        "Two 3090s on an old board, below what others publish",
        "2x3090 with TP2 gives 55 tok/s, others post 70 to 90. One card is at 82 %, the other at 51 %. Should I "
        "raise the power limit from 290 W?",
        "reconstructed",
        stack(server, "2x NVIDIA GeForce RTX 3090 24 GB, PCIe Gen3", "Qwen3-32B AWQ"),
        ("interconnect", "tp"),
        _IC001_NO_P2P_GEN3,
        hosts={"x99": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=topology(2, near="PHB"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
    )


_IC003_CUSTOM_ALLREDUCE_REFUSED = Answer(
    "diagnosed",
    causes=("IC003",),
    also_accepted=("IC001", "IC006"),
    must_not_support=("CG001", "KV001", "KV002", "HW001", "HW002", "PP001", "LB001", "CP001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        OPERATOR,
        fix(tp_size="1..2"),
        fix(pp_size="2..4"),
        fix(enable_mscclpp="true"),
        fix(enable_torch_symm_mem="true"),
    ),
    forbidden_changes=("--disable-cuda-graph", "--disable-custom-all-reduce"),
    evidence=("server.log",),
    note="Without NVLink SGLang refuses its own all-reduce on more than two cards, so 128 small all-reduces a token "
    "go through NCCL. A one-shot kernel over PCIe gave 74.9 tok/s on such a box.",
    ref="vllm-project/vllm#56128 and the rtx6kpro wiki (67.3 -> 74.9 tok/s on 4 cards of one node); log rebuilt",
)


def ic003_custom_allreduce_refused() -> Incident:
    server = Server("0.5.14", QWEN36_27B_FP8, PRO_6000, tp=4, flags={"--context-length": "65536"}, mamba_slots=480)
    scene = Scene("ic003-custom-allreduce-refused", server, "2026-09-08T13:15:42")
    scene.start(load_s=31, at_init=(nccl.ALLREDUCE_REFUSED,))
    load = Load((1,), 14.86, 500, 700, prefill_ms_per_k=58)
    scene.serve(load, 20)
    done = scene.serve_unseen(load, 60)
    return Incident(
        "ic003-custom-allreduce-refused",
        "Four PCIe cards, and the fast all-reduce is refused",
        "TP4 on 4x RTX PRO 6000 in one socket, P2P works between all of them. 67 tok/s for a 27B FP8 model. There is "
        "a warning about custom allreduce at start, does it matter?",
        "reconstructed",
        stack(server, "4x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Qwen3.6-27B FP8"),
        ("interconnect", "tp"),
        _IC003_CUSTOM_ALLREDUCE_REFUSED,
        hosts={"ws": scene.host(gpus__csv=scene.gpus(spread(97, 246, 4)), topology__txt=topology(4, near="NODE"))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("A patched one-shot all-reduce over PCIe gave 74.9 tok/s on this box.",),
    )


CASES = (
    ic001_spinning_collectives,
    ic001_no_p2p_gen3,
    ic003_custom_allreduce_refused,
)
