"""A narrow link, a slow network, and an NCCL that thinks so."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.bench import Row, jsonl, measured, relaunch
from ppagent_evals.writing.cards import H20, L40S, PRO_6000
from ppagent_evals.writing.gpus import Gpu, spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import (
    DEEPSEEK_R1,
    KIMI_K25,
    LLAMA_70B_FP8,
)
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

_IC004_NARROW_LINK = Answer(
    "diagnosed",
    causes=("IC004",),
    also_accepted=("IC001", "IC003"),
    must_not_support=("CG001", "KV001", "KV002", "HW001", "HW002", "PP001", "CP001", "LB001"),
    ruled_out=("CG001", "KV001", "HW001"),
    fixes=(OPERATOR,),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("gpus.csv",),
    note="GPU 2 runs at x4 of x16 under load; every all-reduce waits for it. Re-seat the card or its riser.",
    ref="made up",
)


def ic004_narrow_link() -> Incident:
    server = Server("0.5.10", LLAMA_70B_FP8, L40S, tp=4, flags={"--disable-custom-all-reduce": "true"})
    scene = Scene("ic004-narrow-link", server, "2026-03-30T11:36:18")
    scene.start(load_s=49)
    load = Load((8,), 61, 600, 500, prefill_ms_per_k=390)
    scene.serve(load, 26)
    done = scene.serve_unseen(load, 60)
    gpus = [Gpu(99, 171), Gpu(99, 168), Gpu(97, 149, width=4), Gpu(99, 173)]
    return Incident(
        "ic004-narrow-link",
        "Half the speed since the server was moved",
        "Same container, same flags, same model. Before we moved the box to the new rack: 244 tok/s at 8 users. "
        "After: 130. Nothing in the log.",
        "synthetic",
        stack(server, "4x NVIDIA L40S 48 GB", "Llama-3.3-70B FP8"),
        ("interconnect", "hardware"),
        _IC004_NARROW_LINK,
        hosts={"box": scene.host(gpus__csv=scene.gpus(gpus), topology__txt=topology(4))},
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("Before the move the same load gave 243.6 tok/s.",),
    )


def _tp16(index: int) -> Scene:
    server = Server(
        "0.5.10",
        DEEPSEEK_R1,
        H20,
        tp=16,
        nnodes=2,
        node=index,
        flags={"--trust-remote-code": "true"},
        env={"NCCL_DEBUG": "INFO", "NCCL_IB_DISABLE": "1"},
    )
    scene = Scene(f"ic005-tp16-over-ethernet-{index}", server, "2026-04-07T14:22:11")
    host = f"node{index}"
    scene.start(load_s=233, at_init=("CustomAllreduce is disabled because this process group spans across nodes.",))
    nccl.info(scene.log, 0, "NCCL_IB_DISABLE set by environment to 1.", host=host)
    nccl.info(scene.log, 0, f"NET/Socket : Using [0]eth0:10.0.0.{11 + index}<0>", host=host)
    nccl.info(scene.log, 0, "Using network Socket", host=host)
    for channel in range(2):
        nccl.info(scene.log, 7, f"Channel {channel:02}/0 : 7[7] -> 8[0] [send] via NET/Socket/0", host=host)
    if index == 0:
        scene.serve(Load((16,), 214, 700, 500, prefill_ms_per_k=700), 75)
    return scene


_IC005_TP16_OVER_ETHERNET = Answer(
    "diagnosed",
    causes=("IC005",),
    also_accepted=("IC003", "IC001", "IC006"),
    must_not_support=("CG001", "KV001", "KV002", "PP001", "HW001", "HW004", "LB001"),
    ruled_out=("CG001", "KV001"),
    fixes=(
        fix(tp_size="8", pp_size="2"),
        fix(env={"NCCL_IB_DISABLE": "0"}),
        fix(env={"NCCL_SOCKET_IFNAME": "*"}),
        OPERATOR,
    ),
    forbidden_changes=("--disable-cuda-graph", "--max-running-requests"),
    evidence=("server.log", "launch.txt"),
    note="--tp-size 16 over two nodes puts 122 all-reduces a step on a socket network (NCCL says NET/Socket, IB "
    "switched off). TP8 with PP2 keeps them inside a node.",
    ref="made up: 16 x 14 KB over 25 GbE, 1.6 ms an all-reduce",
)


def ic005_tp16_over_ethernet() -> Incident:
    nodes = [_tp16(index) for index in range(2)]
    load = Load((16,), 214, 700, 500, prefill_ms_per_k=700)
    done = nodes[0].serve_unseen(load, 90, after_s=3)
    hosts = {
        f"node{i}": scene.host(
            gpus__csv=scene.gpus(spread(100, 163, 8)), topology__txt=topology(8, near="NV18", far="NV18")
        )
        for i, scene in enumerate(nodes)
    }
    return Incident(
        "ic005-tp16-over-ethernet",
        "One model over two nodes, joined by a 25G network",
        "R1 over two H20 nodes with --tp 16. 75 tok/s in total for 16 users, all 16 GPUs at 100 %. One node alone "
        "ran a smaller model at 30 tok/s per user.",
        "synthetic",
        stack(nodes[0].server, "2 nodes x 8x NVIDIA H20", "DeepSeek-R1-0528"),
        ("interconnect", "multi-node", "tp"),
        _IC005_TP16_OVER_ETHERNET,
        hosts=hosts,
        files={"bench.jsonl": jsonl([measured(done, load)])},
        stated=("The nodes are joined by 25 Gbit/s Ethernet; they also have InfiniBand cards that nobody set up.",),
    )


_IC006_NCCL_TAKES_THE_HOST_FOR_SLOW = Answer(
    "diagnosed",
    causes=("IC006",),
    also_accepted=("IC001", "IC003"),
    must_not_support=("CG001", "KV001", "PP001", "PP006", "HW001", "HW002", "CP001"),
    ruled_out=("KV001",),
    fixes=(
        fix(env={"NCCL_GRAPH_FILE": "*"}),
        fix(env={"NCCL_PROTO": "LL"}),
        fix(env={"NCCL_P2P_LEVEL": "SYS"}),
        fix(env={"NCCL_MIN_NCHANNELS": "4..16"}),
    ),
    forbidden_changes=("--disable-cuda-graph", "--chunked-prefill-size=-1"),
    evidence=("server.log",),
    note="NCCL's model of this CPU gives 0.1 GB/s, type SYS, two channels, though the links carry 50 GB/s. With a "
    "graph file the same prompt took 0.31 s.",
    ref="rtx6kpro wiki, NCCL tuning (1.329 s against 0.310 s, debug lines); log rebuilt",
)


_IC006_NCCL_TAKES_THE_HOST_FOR_SLOW_ROW: Row = {
    "tool": "own script, prefill only",
    "max_concurrency": 1,
    "random_input_len": 8970,
    "random_output_len": 1,
    "mean_ttft_ms": 1329.0,
    "input_throughput": 6750.0,
}


def ic006_nccl_takes_the_host_for_slow() -> Incident:
    server = Server(
        "0.5.10",
        KIMI_K25,
        PRO_6000,
        tp=8,
        env={"NCCL_DEBUG": "INFO"},
        flags={"--trust-remote-code": "true", "--mem-fraction-static": "0.9", "--context-length": "131072"},
    )
    scene = Scene("ic006-nccl-takes-the-host-for-slow", server, "2026-03-12T09:07:37")
    scene.start(load_s=418, at_init=(nccl.ALLREDUCE_REFUSED,))
    for text in (
        "=== System : maxBw 0.1 totalBw 0.1 ===",
        "Pattern Ring, crossNic 0, nChannels 2, bw 0.100000/0.100000, type SYS/SYS, sameChannels 1",
        "Pattern Tree, crossNic 0, nChannels 2, bw 0.100000/0.100000, type SYS/SYS, sameChannels 1",
        "2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer",
    ):
        nccl.info(scene.log, 0, text)
    load = Load((1,), 12.6, 8970, 32, prefill_ms_per_k=148)
    scene.serve(load, 24)
    after: Row = {**_IC006_NCCL_TAKES_THE_HOST_FOR_SLOW_ROW, "mean_ttft_ms": 310.0, "input_throughput": 20700.0}
    return Incident(
        "ic006-nccl-takes-the-host-for-slow",
        "NCCL believes in a 0.1 GB/s link",
        "Kimi K2.5 TP8 on 8x RTX PRO 6000 with two EPYC Turin. Time to first token is 1.3 s for 9k tokens, a "
        "colleague with the same box gets 0.3 s. P2P bandwidth tests are fine on both.",
        "reconstructed",
        stack(server, "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Kimi K2.5"),
        ("interconnect", "nccl", "prefill"),
        _IC006_NCCL_TAKES_THE_HOST_FOR_SLOW,
        hosts={
            "node": scene.host(
                gpus__csv=scene.gpus(spread(99, 212, 8), before_end_s=8, count=3),
                topology__txt=topology(8, group=4),
                host__json='{"cpu_model": "AMD EPYC 9575F 64-Core Processor", "sockets": 2, "cores": 128, '
                '"threads": 256, "numa_nodes": 2, "governor": "performance", "memory_gib": 1511}\n',
            )
        },
        files={
            "bench.jsonl": jsonl([_IC006_NCCL_TAKES_THE_HOST_FOR_SLOW_ROW]),
            "relaunches.jsonl": jsonl([relaunch(after, env={"NCCL_GRAPH_FILE": "/etc/nccl/graph.xml"})]),
        },
        stated=("P2P between any two cards measures about 53 GB/s.",),
    )


CASES = (
    ic004_narrow_link,
    ic005_tp16_over_ethernet,
    ic006_nccl_takes_the_host_for_slow,
)
