"""What the words of an error usually mean, in a clause, and what would tell more. Not every one is a cause of the list.

The first that fits counts, so that the more specific come first.
"""

from dataclasses import dataclass

from ppagent.causes.cause import Probe

CHILD_DIED = "a child process ended; an exit code of -9 is the kernel's doing, mostly for want of host memory"
NOTICED = "another rank ended first, and this one only noticed"
KERNEL_LOG = Probe("host.kernel", "an Xid line would say which card failed, and whether card or program did", 2)
ALL_LOGS = Probe("logs.trouble", "every host's log: the rank whose lines end first is where it began", 0)
WHOLE_START = Probe("logs.startup", "version, arguments and the last step before it stand above the error", 0)


@dataclass(frozen=True)
class Meaning:
    """What an error of these words means, and what would tell more."""

    words: str
    means: str
    probes: tuple[Probe, ...]


OUT_OF_MEMORY = "a card ran out of memory; the log does not show whether at the start or at work"
OUT_OF_MEMORY_AT_WORK = (
    "a card ran out of memory at work: a smaller --mem-fraction-static or --chunked-prefill-size leaves more to spare"
)

MEANINGS = (
    Meaning(
        r"invalid device ordinal",
        "a rank asks for a card that is not visible: fewer cards than ranks, or CUDA_VISIBLE_DEVICES",
        (Probe("gpu.samples", "how many cards the host has for tp x pp x dp ranks", 2), WHOLE_START),
    ),
    Meaning(
        r"illegal memory access|device-side assert|unspecified launch failure|misaligned address|illegal instruction",
        "a kernel went wrong, mostly a defect of that version; the stack shows where it was noticed, not where it was",
        (KERNEL_LOG, WHOLE_START),
    ),
    Meaning(
        r"unhandled system error|ncclSystemError",
        "a system call under NCCL failed: the network interface, /dev/shm of the container, or the RDMA driver",
        (Probe("logs.trouble", "with NCCL_DEBUG=INFO on every node, a WARN line above the error names the call", 0),),
    ),
    Meaning(
        r"unhandled cuda error|ncclUnhandledCudaError|ncclInternalError|ncclInvalidUsage|NCCL error",
        "a collective failed on this rank",
        (Probe("logs.trouble", "with NCCL_DEBUG=INFO on every node, a WARN line above the error names why", 0),),
    ),
    Meaning(
        r"connectFullMesh|[Gg]loo.*(?:refused|timed out|no error)",
        "the nodes do not reach each other on the interface that Gloo chose (GLOO_SOCKET_IFNAME)",
        (Probe("host.environment", "whether GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME name the right interface", 2),),
    ),
    Meaning(
        r"Connection closed by peer|Connection reset by peer|ncclRemoteError|Broken pipe",
        NOTICED,
        (ALL_LOGS, KERNEL_LOG),
    ),
    Meaning(
        r"[Ww]atchdog|collective operation timeout|Timeout at NCCL work|Scheduler debug info|yspy",
        "a step or a collective never finished; the ranks that print it waited",
        (ALL_LOGS, KERNEL_LOG),
    ),
    Meaning(
        r"[Oo]ut of memory|OutOfMemory|Not enough memory",
        OUT_OF_MEMORY,
        (Probe("logs.startup", "memory left after weights, pool and graphs stands in the start's lines", 0),),
    ),
    Meaning(
        r"DistNetworkError|DistStoreError|client socket has timed out",
        "this node does not reach the first one: it is not up, --dist-init-addr is another address, or a firewall",
        (Probe("logs.trouble", "the first node's log says whether it ever listened", 0),),
    ),
    Meaning(
        r"ddress already in use",
        "another process holds the port, a server left over included",
        (Probe("host.processes", "which process of an earlier start is left", 2),),
    ),
    Meaning(
        r"Can't load (?:tokenizer|the model|config)|LocalEntryNotFound|RepositoryNotFound|not appear to have a file",
        "the model's files are not all where --model-path points",
        (WHOLE_START,),
    ),
    Meaning(
        r"ModuleNotFoundError|ImportError|undefined symbol",
        "a package that this launch needs is not installed, or was built for another version",
        (Probe("server.version", "which versions of sglang and its kernels are installed together", 2), WHOLE_START),
    ),
    Meaning(
        r"KVTransferError|[Tt]ransfer failed|KVPoll",
        "the KV of a request did not come over; a side that speaks of another rank only heard of it",
        (Probe("logs.trouble", "the logs of the other side and of the other ranks name the reason", 0),),
    ),
    Meaning(
        r"exit code -9|[Ss]igquit|SIGQUIT|Killed process",
        CHILD_DIED,
        (Probe("host.kernel", "whether the kernel killed it for want of host memory", 2), ALL_LOGS),
    ),
)
