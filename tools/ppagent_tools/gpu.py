"""The cards: what they draw and do, who else uses them, how they are connected."""

from collections.abc import Callable, Sequence

from pydantic import BaseModel

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.gpu_power import power_series
from ppagent_tools.gpu_processes import process_findings
from ppagent_tools.gpu_rows import at_work, by_gpu, mean, read_samples, window_s
from ppagent_tools.gpu_sample import Sample
from ppagent_tools.gpu_topology import topology_finding
from ppagent_tools.gpu_used import of_used_cards, used_cards
from ppagent_tools.reading import Document, document, on_each_host, tidy

Values = Callable[[list[float]], float]

_TABLES: tuple[tuple[str, tuple[str, ...], Values], ...] = (
    ("gpu.utilization", ("utilization.gpu",), mean),
    ("gpu.power_w", ("power.draw",), mean),
    ("gpu.power_max_w", ("power.draw",), max),
    ("gpu.power_limit_w", ("power.limit", "enforced.power.limit"), max),
    ("gpu.power_default_limit_w", ("power.default_limit",), max),
    ("gpu.memory_used_mib", ("memory.used",), max),
    ("gpu.memory_total_mib", ("memory.total",), max),
    ("gpu.sm_clock_mhz", ("clocks.sm",), mean),
    ("gpu.sm_clock_max_mhz", ("clocks.max.sm",), max),
    ("gpu.temperature_c", ("temperature.gpu",), max),
)
_LINKS: tuple[tuple[str, tuple[str, ...], Values], ...] = (
    ("gpu.pcie_gen", ("pcie.link.gen.current",), max),
    ("gpu.pcie_gen_max", ("pcie.link.gen.max",), max),
    ("gpu.pcie_width", ("pcie.link.width.current",), min),
    ("gpu.pcie_width_max", ("pcie.link.width.max",), max),
)


class Samples:
    name = "gpu.samples"
    summary = (
        "Samples of nvidia-smi: utilisation, power against its limit, memory, clocks, temperature, PCIe links and "
        "throttle reasons of each card that the server is on. Where some moments show work, means are taken over those "
        "alone. Utilisation counts waiting kernels as work, so it never shows by itself that a pipeline stage is busy."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("gpu.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(
            context, lambda host: _samples(document(context, host, Artifact.GPUS), used_cards(context, host))
        )


class Processes:
    name = "gpu.processes"
    summary = (
        "Programs on the cards that are not the server's own, with the memory they hold, and which rank of the server "
        "is on which card."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("gpu.foreign_processes", "gpu.ranks")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: process_findings(context, host))


class Topology:
    name = "gpu.topology"
    summary = "How the cards that are used are connected: NVLink or PCIe, and the farthest link between two of them."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("gpu.nvlink", "gpu.link_worst")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: (topology_finding(context, host),))


def tools() -> tuple[Tool, ...]:
    return (Samples(), Processes(), Topology())


def _samples(found: Document, cards: frozenset[int]) -> list[Finding]:
    """What the server's cards do; the others of a host are only counted."""
    sampled = read_samples(found)
    moments = of_used_cards(sampled, cards)
    every = [sample for moment in sampled for sample in moment]
    used = at_work(moments)
    gpus = by_gpu(used)
    shown = max(used, key=lambda sample: sample.value("power.draw") or 0.0)
    at = shown.row.cells.get("timestamp", "")
    facts: dict[str, FactValue] = {
        "gpu.count": len(by_gpu(sample for sample in every if not sample.gone)) or None,
        "gpu.lost": _lost(every),
        "gpu.names": {index: name for index, own in gpus.items() if (name := _name(own))},
        "gpu.samples": max(len(own) for own in gpus.values()),
        "gpu.window_s": window_s(every),
        "gpu.under_load": _under_load([sample for moment in moments for sample in moment]),
        "gpu.power_series": power_series(moments),
    }
    facts.update(_tables(gpus, _TABLES))
    known = {name: value for name, value in facts.items() if value not in (None, {}, [])}
    findings = [found.finding(known, shown.excerpt, at=at)]
    links = _tables(gpus, _LINKS)
    if links:
        findings.append(found.finding(links, _narrowest(used).excerpt, at=at))
    return findings + _throttle(found, gpus)


def _name(own: Sequence[Sample]) -> str:
    names = (sample.row.cells.get("name", "") for sample in own)
    return next((name for name in names if name and not name.startswith("[")), "")


def _lost(samples: Sequence[Sample]) -> list[FactValue]:
    """Cards that no longer answer, by index or by bus, each once."""
    said = {s.row.cells.get("index") or s.row.cells.get("pci.bus_id") or s.index: s.gone for s in samples if s.gone}
    return [{"gpu": gpu, "says": says} for gpu, says in said.items()]


def _under_load(samples: Sequence[Sample]) -> bool | None:
    known = [sample.busy for sample in samples if sample.busy is not None]
    return any(known) if known else None


def _tables(
    gpus: dict[str, list[Sample]], tables: tuple[tuple[str, tuple[str, ...], Values], ...]
) -> dict[str, FactValue]:
    """Each quantity by GPU; a quantity that no row holds is left out."""
    facts: dict[str, FactValue] = {}
    for name, columns, combine in tables:
        table: dict[str, FactValue] = {}
        for index, own in gpus.items():
            values = [value for sample in own if (value := sample.value(*columns)) is not None]
            if values:
                table[index] = tidy(combine(values))
        if table:
            facts[name] = table
    return facts


def _narrowest(samples: Sequence[Sample]) -> Sample:
    """The sample with the fewest lanes and the slowest generation."""
    widths = ("pcie.link.width.current",)
    generations = ("pcie.link.gen.current",)
    return min(samples, key=lambda s: (s.value(*widths) or 99.0, s.value(*generations) or 99.0))


def _throttle(found: Document, gpus: dict[str, list[Sample]]) -> list[Finding]:
    """Reasons seen by GPU, quoting a row that has one; nothing where no row says."""
    reasons: dict[str, FactValue] = {}
    shown: Sample | None = None
    for index, own in gpus.items():
        said = [(sample, sample.throttles) for sample in own if sample.throttles is not None]
        if not said:
            continue
        held = [(sample, reason) for sample, given in said for reason in given or () if _counts(sample, reason)]
        reasons[index] = list(dict.fromkeys(reason for _, reason in held))
        shown = shown or (held[0][0] if held else None)
    if not reasons:
        return []
    excerpt = (shown or next(iter(gpus.values()))[0]).excerpt
    return [found.finding({"gpu.throttle": reasons}, excerpt)]


def _counts(sample: Sample, reason: str) -> bool:
    """Idle cards report a power cap too (seen: 30 of 600 W), which holds nothing down."""
    return reason != "sw_power_cap" or sample.busy is not False
