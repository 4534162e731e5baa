"""GPU samples as `nvidia-smi --query-gpu` gives them, and process and topology lists."""

from dataclasses import dataclass

from ppagent_evals.writing.cards import Card
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.memory import Memory

COLUMNS = (
    "timestamp,index,name,utilization.gpu,power.draw,power.limit,power.default_limit,memory.used,memory.total,"
    "clocks.sm,clocks.max.sm,temperature.gpu,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
    "pcie.link.width.max,clocks_event_reasons.active"
)
SW_POWER_CAP, HW_THERMAL, HW_SLOWDOWN = 0x4, 0x40, 0x8


@dataclass(frozen=True)
class Gpu:
    """How one GPU looked under load. None takes what its card would show."""

    utilization: float
    power_w: float
    clock_mhz: int | None = None
    temperature_c: int = 58
    limit_w: float | None = None
    width: int = 16
    gen: int | None = None
    reasons: int = 0
    card: Card | None = None
    """Another model than the server's other cards."""
    extra_mib: int = 0
    """Memory that other processes hold."""
    memory_mib: int | None = None


def spread(utilization: float, power_w: float, count: int, *, temperature_c: int = 58) -> list[Gpu]:
    """`count` GPUs that look alike, a few W apart."""
    return [
        Gpu(utilization, power_w * (1 + 0.008 * ((5 * i) % 7 - 3)), temperature_c=temperature_c) for i in range(count)
    ]


def samples(log: Log, gpus: list[Gpu], *, at: float, count: int = 6, every_s: float = 2.0) -> str:
    """`gpus.csv`: `count` samples of the GPUs of this node, from `at` on."""
    rows = [COLUMNS]
    for n in range(count):
        rows += [_row(log, index, gpu, at + n * every_s) for index, gpu in enumerate(gpus)]
    return "\n".join(rows) + "\n"


def _row(log: Log, index: int, gpu: Gpu, at: float) -> str:
    card, rng = gpu.card or log.server.card, log.rng
    util = min(100, max(0, round(gpu.utilization + rng.uniform(-3, 3)))) if gpu.utilization else 0
    power = gpu.power_w * (1 + rng.uniform(-0.025, 0.025))
    limit = gpu.limit_w or card.limit_w
    clock = gpu.clock_mhz or round(card.clock_max_mhz * 0.93)
    stage = min(index // max(log.server.tp, 1), log.server.pp - 1)
    used = gpu.memory_mib if gpu.memory_mib is not None else Memory.of(log.server).used_mib(stage)
    gen = gpu.gen or card.pcie_gen
    return ",".join(
        str(value)
        for value in (
            log.iso(at), index, card.name, util, f"{min(power, limit):.2f}", f"{limit:.2f}",
            f"{card.limit_w:.2f}", min(used + gpu.extra_mib, card.memory_mib), card.memory_mib,
            round(clock * (1 + rng.uniform(-0.004, 0.004))), card.clock_max_mhz, gpu.temperature_c + rng.randint(-1, 1),
            gen, card.pcie_gen, gpu.width, 16, f"0x{gpu.reasons:016x}",
        )
    )  # fmt: skip


def gpu_processes(rows: list[tuple[int, int, str, int]]) -> str:
    """`gpu_processes.csv` from (GPU, pid, name, MiB)."""
    return "index,pid,name,used_memory_mib\n" + "".join(f"{i},{pid},{name},{mib}\n" for i, pid, name, mib in rows)


def topology(count: int, *, near: str = "NODE", far: str = "SYS", group: int | None = None) -> str:
    """`nvidia-smi topo -m` of `count` GPUs; `group` is how many of them share a socket."""
    group = group or count
    names = [f"GPU{i}" for i in range(count)]
    rows = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity"])]
    for i in range(count):
        links = ["X" if i == j else near if i // group == j // group else far for j in range(count)]
        node = i // group
        rows.append("\t".join([f"GPU{i}", *links, f"{node * 64}-{node * 64 + 63}", str(node)]))
    legend = ["", "Legend:", "", "  X    = Self"]
    legend += ["  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)"]
    legend += [
        "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node"
    ]
    legend += ["  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)"]
    legend += ["  PIX  = Connection traversing at most a single PCIe bridge"]
    legend += ["  NV#  = Connection traversing a bonded set of # NVLinks"]
    return "\n".join([*rows, *legend]) + "\n"
