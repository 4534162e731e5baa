"""What an event of a trace is, by its category and name, as PyTorch (Kineto) writes them for CUDA and ROCm."""

import re
from enum import Enum


class Kind(Enum):
    """What counts in an event."""

    WORK = "a kernel that computes"
    COLLECTIVE = "a kernel in which ranks exchange what each needs to go on"
    WAIT = "a kernel that sends to or receives from another stage, and spins until that one is there"
    LAUNCH = "a kernel launched from the host"
    GRAPH = "a graph launched from the host"
    OTHER = "anything else"


_WAIT = re.compile(r"(?:nccl|rccl)\w*(?:SendRecv|Generic)", re.IGNORECASE)
"""A generic kernel of RCCL may be any of them; between stages it is a send or a receive."""
_COLLECTIVE = re.compile(
    r"(?:nccl|rccl)(?:Dev)?Kernel|all_?reduce|cross_device_reduce|all_?gather|reduce_scatter|mscclpp|multimem",
    re.IGNORECASE,
)
_LAUNCH = re.compile(r"cudaLaunch(?!HostFunc)|cuLaunch(?:Cooperative)?Kernel|hip\w*Launch\w*Kernel")
_GRAPH = re.compile(r"(?:cuda|cu|hip)GraphLaunch")


def kernel_kind(name: str) -> Kind:
    """What a kernel is for."""
    if _WAIT.search(name):
        return Kind.WAIT
    return Kind.COLLECTIVE if _COLLECTIVE.search(name) else Kind.WORK


def call_kind(name: str) -> Kind:
    """What a call of the CUDA or HIP runtime does."""
    if _GRAPH.match(name):
        return Kind.GRAPH
    return Kind.LAUNCH if _LAUNCH.match(name) else Kind.OTHER
