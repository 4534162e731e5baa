"""A small recording of two hosts, written anew for each test, and pieces of pasted text."""

from pathlib import Path

DECODE = (
    "[2026-05-02 10:00:0{s} PP{pp}] Decode batch, #running-req: 3, #token: 3894, token usage: 0.03, cuda graph: False, "
    "gen throughput (token/s): 95.63, #queue-req: 0"
)
LAUNCH = (
    "NCCL_P2P_LEVEL=SYS python3 -m sglang.launch_server --model-path /m --nnodes 2 --node-rank {rank} --pp-size 2\n"
)

BOX_TABLE = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA RTX PRO 6000 Blac...    On  |   00000000:01:00.0 Off |                  Off |
| 30%   32C    P1             85W /  600W |   88000MiB /  97887MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA RTX PRO 6000 Blac...    On  |   00000000:02:00.0 Off |                  Off |
| 31%   33C    P1            184W /  600W |   88001MiB /  97887MiB |     12%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A            1234      C   sglang::scheduler_PP0                 88000MiB |
|    1   N/A  N/A            1235      C   /usr/bin/blender                        500MiB |
+-----------------------------------------------------------------------------------------+
"""
TOPOLOGY = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tPHB\t0-31\t0\t\tN/A
GPU1\tPHB\t X \t0-31\t0\t\tN/A

Legend:

  X    = Self
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
"""
BENCH_TABLE = """\
============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 8
Successful requests:                     128
Benchmark duration (s):                  47.13
Output token throughput (tok/s):         95.60
Mean TTFT (ms):                          387.00
Median ITL (ms):                         83.70
==================================================
"""


def write_recording(root: Path) -> Path:
    """Host `alpha` holds node 1, host `beta` node 0."""
    for host, rank in (("alpha", 1), ("beta", 0)):
        folder = root / "hosts" / host
        (folder / "metrics").mkdir(parents=True)
        (folder / "launch.txt").write_text(LAUNCH.format(rank=rank))
        (folder / "server.log").write_text("".join(DECODE.format(s=s, pp=rank) + "\n" for s in range(3)))
        for number in (2, 10, 1):
            (folder / "metrics" / f"{number}.prom").write_text(f"# scraped_at: {number}\n")
    source = root / "hosts" / "beta" / "source" / "sglang" / "srt"
    source.mkdir(parents=True)
    (source / "scheduler.py").write_text("class Scheduler:\n    pp_size = 8\n    tp_size = 1\n")
    (root / "incident.yaml").write_text("schema_version: 1\nquestion: Why?\n")
    (root / "answer.yaml").write_text("verdict: diagnosed\n")
    (root / "bench.jsonl").write_text('{"max_concurrency": 8, "output_throughput": 95.6}\n')
    return root
