"""Kinds of remark and trouble between processes: NCCL, peer access, custom all-reduce, KV transfer, hardware."""

from ppagent.sglang.logs.trouble import TroubleKind

COMM_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="nccl_timeout",
        severity="fatal",
        marks=(b"Watchdog caught collective operation", b"detected by watchdog at work", b"Timeout at NCCL work"),
        pattern=r"(?:\[Rank (?P<rank>\d+)\] )?Watchdog caught collective operation timeout: "
        r"WorkNCCL\((?:SeqNum=(?P<sequence>\d+))?(?:.*?OpType=(?P<operation>\w+))?"
        r"(?:.*?Timeout\(ms\)=(?P<timeout_ms>\d+))?"
        r"|(?:Exception \([^)]*\)|failure) detected by watchdog at work|Timeout at NCCL work",
        note="A collective never finished. The rank that prints this waited; look for the one that fell silent first.",
    ),
    TroubleKind(
        id="nccl_error",
        severity="fatal",
        marks=(
            b"NCCL error",
            b"NCCL Error",
            b"ncclUnhandledCudaError",
            b"ncclSystemError",
            b"ncclRemoteError",
            b"ncclInternalError",
            b"ncclInvalidUsage",
            b"Connection closed by peer",
        ),
        pattern=r"(?P<code>nccl[A-Z]\w+Error|ncclInvalidUsage)|NCCL [Ee]rror(?: in)?:? ?(?P<reason>.*)"
        r"|Connection closed by peer(?: \[(?P<peer>[^\]]*)\])?",
        note="A collective failed; a closed connection means the peer died first.",
    ),
    TroubleKind(
        id="nccl_socket_transport",
        severity="warning",
        marks=(b"via NET/Socket", b"Using network Socket"),
        pattern=r"via NET/Socket|Using network Socket",
        note="NCCL goes over TCP sockets: slow between nodes unless no RDMA network exists.",
    ),
    TroubleKind(
        id="nccl_ib_transport",
        severity="info",
        marks=(b"via NET/IB", b"Using network IB"),
        pattern=r"via NET/IB|Using network IB",
        note="NCCL goes over RDMA between nodes.",
        harmless=True,
    ),
    TroubleKind(
        id="nccl_shm_transport",
        severity="warning",
        marks=(b"via SHM",),
        pattern=r"via SHM",
        note="NCCL copies through host memory within the node: no direct peer access between these GPUs.",
    ),
    TroubleKind(
        id="nccl_p2p_transport",
        severity="info",
        marks=(b"via P2P",),
        pattern=r"via P2P",
        note="NCCL uses direct peer access.",
        harmless=True,
    ),
    TroubleKind(
        id="nccl_assumed_bandwidth",
        severity="info",
        marks=(b"=== System : maxBw",),
        pattern=r"=== System : maxBw (?P<gb_per_s>[\d.]+)",
        note="What NCCL takes the best link of this host for, in GB/s; it plans channels and protocols by it.",
        harmless=True,
    ),
    TroubleKind(
        id="nccl_channels",
        severity="info",
        marks=(b" coll channels",),
        pattern=r"(?P<channels>\d+) coll channels",
        note="Channels of a communicator: few of them leave bandwidth unused.",
        harmless=True,
    ),
    TroubleKind(
        id="nccl_init_complete",
        severity="info",
        marks=(b"Init COMPLETE",),
        pattern=r"rank (?P<rank>\d+) nranks (?P<ranks>\d+)(?:.*?busId (?P<bus_id>\S+))?.*Init COMPLETE",
        note="A communicator stands; ranks missing here never joined.",
        harmless=True,
    ),
    TroubleKind(
        id="p2p_disabled",
        severity="warning",
        marks=(b"P2P is disabled", b"NCCL_P2P_DISABLE", b"P2P Disabled"),
        pattern=r"P2P is disabled(?: between (?P<between>[^.]*))?|NCCL_P2P_DISABLE|P2P Disabled",
        note="Peer access is switched off or blocked (ACS, IOMMU, driver).",
    ),
    TroubleKind(
        id="custom_allreduce_disabled",
        severity="warning",
        marks=(b"is disabled because", b"is disabled due to"),
        pattern=r"(?P<what>Custom (?:quick )?all-?reduce|\w*All-?[Rr]educe\w*) is disabled "
        r"(?:because|due to) (?P<reason>.*?)(?:\. To silence.*|\.?$)",
        note="Tensor-parallel all-reduce falls back to NCCL.",
    ),
    TroubleKind(
        id="xid",
        severity="fatal",
        marks=(b"NVRM: Xid",),
        pattern=r"NVRM: Xid \((?P<device>[^)]*)\): (?P<code>\d+)(?:, (?P<reason>.*))?",
        note="The GPU driver reports a fault; 48, 63, 64, 74, 79, 94, 95 are hardware, 13, 31, 43 mostly software.",
    ),
    TroubleKind(
        id="kv_transfer_failed",
        severity="error",
        marks=(
            b"transfer failed for request",
            b"KVTransferError",
            b"in KVPoll.",
            b"KV transfer failed",
            b"connection with prefill instance",
            b"waiting for KV transfer",
        ),
        pattern=r"(?P<side>Decode|Prefill) transfer failed"
        r"|timed out after (?P<waited_s>[\d.]+)s(?: in KVPoll\.(?P<stage>\w+))?"
        r"|KVTransferError\(bootstrap_room=(?P<room>\d+)\): (?P<reason>.*)|KV transfer failed"
        r"|Los\w+ connection with prefill instance",
        note="The KV of a request did not reach the decode side.",
    ),
    TroubleKind(
        id="kv_transfer_setup",
        severity="info",
        marks=(b"Time to init xfer", b"NIXL KVManager init", b"UCX  ", b"Mooncake Transfer Engine", b"No IB devices"),
        pattern=r"Time to init xfer\D*(?P<time>[\d.]+)|NIXL KVManager initialized with backend: (?P<backend>\w+)"
        r"|UCX\s+(?P<level>INFO|WARN|ERROR|DEBUG)\s+(?P<ucx>.*)|Mooncake Transfer Engine(?P<mooncake>.*)|No IB devices",
        note="How KV travels between prefill and decode nodes; a set-up of a second or more means no RDMA.",
    ),
)
