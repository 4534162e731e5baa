"""What NCCL and PyTorch print beside SGLang's own lines."""

from ppagent_evals.writing.log import Log

ALLREDUCE_REFUSED = (
    "CustomAllreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this warning, "
    "specify disable_custom_all_reduce=True explicitly."
)


def info(log: Log, rank: int, text: str, *, host: str = "node") -> None:
    """One line of `NCCL_DEBUG=INFO`, from when the ranks met."""
    log.raw(f"{host}:{3100 + rank}:{3100 + rank} [{rank}] NCCL INFO {text}", log.init_s or None)


def init_complete(log: Log, ranks: int, *, host: str = "node") -> None:
    """The communicator of `ranks` is up."""
    for rank in range(ranks):
        place = f"rank {rank} nranks {ranks} cudaDev {rank} nvmlDev {rank} busId {0x1000 + rank * 0x10000:x}"
        comm = f"comm 0x{0x5581A0C0 + rank * 4096:x} {place} commId 0x8b1f2c77"
        info(log, rank, f"ncclCommInitRankConfig {comm} - Init COMPLETE", host=host)


def timed_out(log: Log, rank: int, *, seconds: int = 600) -> None:
    """PyTorch's watchdog over a collective that never ended."""
    log.raw(
        f"[rank{rank}]:[E{log.stamp()[5:].replace('-', '')}.418203117 ProcessGroupNCCL.cpp:683] "
        f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, "
        f"NumelOut=1, Timeout(ms)={seconds * 1000}) ran for {seconds * 1000 + 21} milliseconds before timing out."
    )
