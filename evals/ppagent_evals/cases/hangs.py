"""Peer-to-peer transfers that the driver promises and the machine does not do."""

from ppagent_evals.writing import nccl
from ppagent_evals.writing.cards import PRO_6000, RTX_4090
from ppagent_evals.writing.gpus import spread, topology
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.machine import commands
from ppagent_evals.writing.models import QWEN3_32B, QWEN25_05B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server
from ppagent_evals.writing.startup import before_load

_ACS = (
    "0000:00:01.0 PCI bridge: Intel Corporation Device 7ecc\n\tCapabilities: [220 v1] Access Control Services\n\t\t"
    "ACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n\t\t"
    "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
)
_P2P_OK = " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n  X    = Self\n  OK   = Status Ok\n"


_IC002_FIRST_COLLECTIVE_HANGS = Answer(
    "diagnosed",
    causes=("IC002",),
    must_not_support=("PP008", "CG005", "HW004", "LA003", "KV001", "IC005", "CG001"),
    fixes=(
        OPERATOR,
        fix(env={"NCCL_P2P_DISABLE": "1"}),
        fix(env={"NCCL_P2P_DISABLE": "1"}, disable_custom_all_reduce="true"),
    ),
    forbidden_changes=("--watchdog-timeout", "--disable-cuda-graph", "--dist-timeout"),
    evidence=("server.log",),
    note="Both ranks report Init COMPLETE and the first all-reduce never ends, at 100 % and idle power. ACS redirect "
    "is on at the root port, so peer-to-peer writes go astray whatever the driver claims.",
    ref="local-inference-lab/rtx6kpro#15, NVIDIA/nccl#2079; log rebuilt",
)


def ic002_first_collective_hangs() -> Incident:
    server = Server("0.5.10", QWEN3_32B, PRO_6000, tp=2, env={"NCCL_DEBUG": "INFO"})
    scene = Scene("ic002-first-collective-hangs", server, "2026-06-21T12:05:10")
    log = scene.log
    for warning in ("Attention backend not specified. Use flashinfer backend by default.",):
        log.line(warning)
    before_load(log)
    kept = [pair for pair in log.lines if "distributed ends" not in pair[1] and "not specified" not in pair[1]]
    log.lines[:] = [log.lines[0], *kept]
    for rank in range(2):
        nccl.info(log, rank, f"Channel 00/0 : {rank}[{rank}] -> {1 - rank}[{1 - rank}] via P2P/IPC")
    nccl.init_complete(log, 2)
    log.at += 601
    for rank in range(2):
        nccl.timed_out(log, rank)
    log.at += 2
    log.line("Received sigquit from a child process. It usually means the child failed.")
    return Incident(
        "ic002-first-collective-hangs",
        "Start-up stops before a single weight is read",
        "2x RTX PRO 6000, TP2. The server never starts: it sits there for ten minutes, both GPUs at 100 %, then "
        "dies. One GPU works. nvidia-smi topo -p2p says OK for everything.",
        "reconstructed",
        stack(server, "2x NVIDIA RTX PRO 6000 Blackwell 96 GB", "Qwen3-32B"),
        ("interconnect", "hang", "launch"),
        _IC002_FIRST_COLLECTIVE_HANGS,
        hosts={
            "ws": scene.host(
                gpus__csv=scene.gpus(spread(100, 88, 2, temperature_c=41), before_end_s=300),
                topology__txt=topology(2, near="PHB"),
                commands__jsonl=commands([(["nvidia-smi", "topo", "-p2p", "r"], _P2P_OK), (["lspci", "-vvv"], _ACS)]),
                host__json='{"cpu_model": "Intel Core Ultra 5 245T", "sockets": 1, "cores": 14, "threads": 14, '
                '"numa_nodes": 1, "governor": "performance", "memory_gib": 125, "kernel": "6.8.0-64-generic"}\n',
            )
        },
    )


_IC002_NO_PEER_ACCESS = Answer(
    "diagnosed",
    causes=("IC002",),
    also_accepted=("LA001", "IC003", "IC001"),
    must_not_support=("LA003", "LA004", "KV001", "CG001", "HW004", "PP001"),
    fixes=(fix(disable_custom_all_reduce="true"), fix(enable_p2p_check="true"), OPERATOR),
    forbidden_changes=("--disable-cuda-graph",),
    evidence=("server.log",),
    note="The custom all-reduce maps the neighbour's memory, which these cards do not allow; without it NCCL goes "
    "through host memory and the server starts.",
    ref="sgl-project/sglang#4814 (error and way out); traceback rebuilt",
)


def ic002_no_peer_access() -> Incident:
    server = Server("0.4.7", QWEN25_05B, RTX_4090, tp=2)
    scene = Scene("ic002-no-peer-access", server, "2025-06-12T19:20:33")
    log = scene.log
    before_load(log)
    log.lines[:] = [pair for pair in log.lines if "distributed ends" not in pair[1]]
    crash = (
        "Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/opt/sglang/srt/managers/scheduler.py", line 2297, in run_scheduler_process\n'
        "    scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, pp_rank, dp_rank)\n"
        '  File "/opt/sglang/srt/model_executor/model_runner.py", line 402, in init_torch_distributed\n'
        "    initialize_model_parallel(\n"
        '  File "/opt/sglang/srt/distributed/device_communicators/custom_all_reduce.py", line 258, in __init__\n'
        "    self.meta_ptrs = self.create_shared_buffer(\n"
        '  File "/opt/sglang/srt/distributed/device_communicators/cuda_wrapper.py", line 131, in CUDART_CHECK\n'
        '    raise RuntimeError(f"CUDART error: {error_str}")\n'
        "RuntimeError: CUDART error: peer access is not supported between these two devices"
    )
    for rank in range(2):
        log.line(crash, Rank(0, rank))
    log.at += 1
    log.line("Received sigquit from a child process. It usually means the child failed.")
    return Incident(
        "ic002-no-peer-access",
        "Two 4090s die at start with a peer-access error",
        "--tensor-parallel-size 2 on my 8x 4090 box dies at once. With one GPU it works. Driver 550.",
        "reconstructed",
        stack(server, "8x NVIDIA GeForce RTX 4090 24 GB", "Qwen2.5-0.5B"),
        ("interconnect", "launch", "crash"),
        _IC002_NO_PEER_ACCESS,
        hosts={"rig": scene.host(topology__txt=topology(8, near="NODE", group=4))},
    )


CASES = (ic002_first_collective_hangs, ic002_no_peer_access)
