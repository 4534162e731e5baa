"""Commands by hand for what could not be had, and those that are run for commands.jsonl."""

import shlex
from collections.abc import Sequence

from ppagent.targets.remote.servers import DEFAULT_PORT, option
from ppagent.targets.target import Artifact

_CARDS = (
    "timestamp,index,name,uuid,utilization.gpu,power.draw,power.limit,power.default_limit,memory.used,memory.total,"
    "clocks.sm,clocks.max.sm,temperature.gpu,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
    "pcie.link.width.max"
)
"""What every driver since 390 answers. The UUID tells on which card a process is."""
_ON_CARDS = "gpu_uuid,pid,process_name,used_gpu_memory"

_BY_HAND = {
    Artifact.LAUNCH: "ps -ww -o args= -p $(pgrep -of sglang)",
    Artifact.SERVER_LOG: "sglang serve ... 2>&1 | tee",
    Artifact.SERVER_INFO: "/server_info",
    Artifact.LOADS: "/v1/loads",
    Artifact.GPUS: f"timeout 10 nvidia-smi --query-gpu={_CARDS} --format=csv,nounits -l 1",
    Artifact.GPU_PROCESSES: f"nvidia-smi --query-compute-apps={_ON_CARDS} --format=csv,nounits",
    Artifact.TOPOLOGY: "nvidia-smi topo -m",
    Artifact.MODEL_CONFIG: "cat MODEL_PATH/config.json",
    Artifact.VERSION: "python -c 'import importlib.metadata as m; print(m.version(\"sglang\"))'",
    Artifact.ENVIRONMENT: "env | grep -E '^(CUDA|NCCL|SGLANG|OMP)_'",
    Artifact.PACKAGES: "pip freeze",
    Artifact.DMESG: "sudo dmesg",
}
"""By artifact; what it prints belongs into the artifact's file; a path is asked of the server. The rest is for ppagent
on the host itself to read."""
ON_THE_HOST = "ppagent record local -o DIR"
_METRICS = "/metrics"
"""Some seconds apart, with the server started with --enable-metrics."""

_OF_NODE_0 = (Artifact.SERVER_INFO, Artifact.LOADS)
"""For which no other node of a deployment over several hosts answers (0.5.23, `srt/entrypoints/engine.py`)."""

ALSO_RUN = (
    ("nvidia-smi", "-q"),
    ("nvidia-smi", "nvlink", "-s"),
    ("nvidia-smi", "topo", "-p2p", "r"),
    ("numactl", "-H"),
    ("lscpu",),
)
"""Read-only commands whose answers stand in no artifact of their own, and which a question may come to."""
ALSO_RUN_S = 20.0


def by_hand(artifact: Artifact | None, launch: str = "", port: int | None = None) -> str:
    """The command for an artifact, or for a scrape of /metrics, of the server that `launch` started: it listens where
    its `--host` and `--port` say, and maybe nowhere else. `port` counts more, where the user named it. Empty for what
    this node of a deployment has not at all."""
    command = _METRICS if artifact is None else _BY_HAND.get(artifact, ON_THE_HOST)
    if not command.startswith("/"):
        return command
    words = _words(launch)
    if artifact in _OF_NODE_0 and option(words, "--node-rank") not in ("", "0"):
        return ""
    return _curl(command, words, port)


def _curl(path: str, words: Sequence[str], port: int | None) -> str:
    said = option(words, "--port")
    number = port or (int(said) if said.isdecimal() else DEFAULT_PORT)
    host = option(words, "--host").strip("[]")
    if host in ("", "0.0.0.0", "::"):
        host = "localhost"
    at, more = f"{host}:{number}{path}", ""
    if ":" in host:
        at, more = f"[{host}]:{number}{path}", "g"  # else curl reads the brackets as a range
    return f"curl -s{more}k https://{at}" if option(words, "--ssl-certfile") else f"curl -s{more} {at}"


def _words(launch: str) -> list[str]:
    try:
        return shlex.split(launch)
    except ValueError:  # a quote that is never closed
        return launch.split()
