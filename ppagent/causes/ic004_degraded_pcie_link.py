"""IC004 a PCIe link is degraded

What it is
    One GPU runs its PCIe link with fewer lanes or at a lower speed than it and the slot can do: a bad seat, a riser, a
    shared slot, a link that did not train.

Why it matters
    A tensor-parallel group runs at the speed of its slowest link. A pipeline feels it in prefill; a decode step sends
    tens of kilobytes a hop and hardly notices.

Signals
    Lanes below the maximum, or the generation below the maximum while the GPU works. PCIe errors in the kernel log.

What refutes it
    All lanes, and the full generation seen under load. A low generation while idle says nothing: links drop to save
    power. Fewer lanes while idle say little: some cards rest lanes too.

Remedies
    Re-seat the card or its riser, another slot; meanwhile leave that GPU out or give it the stage that sends least.
"""

from dataclasses import dataclass

from ppagent.causes.cards import cite_all, numbers_by_gpu, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import every
from ppagent.evidence.facts import Facts

WORKING_PERCENT = 50.0
"""Utilisation from which a card is busy enough for its link to be at full speed."""

_KERNEL_WORDS = ("pcie", "aer", "replay", "link is down", "bandwidth, limited by")


@dataclass(frozen=True)
class _Links:
    """GPUs by what their link lacks, each as a phrase."""

    narrow: tuple[str, ...]
    slow: tuple[str, ...]
    odd: tuple[str, ...]
    """Narrower than the other cards, where a card's own maximum is not known."""
    full: bool
    """Whether every GPU was seen with all lanes and, under load, the full generation."""


class DegradedPcieLink:
    id = "IC004"
    name = "a PCIe link is degraded"
    prior = 0.03
    wants = (
        "gpu.pcie_width",
        "gpu.pcie_width_max",
        "gpu.pcie_gen",
        "gpu.pcie_gen_max",
        "gpu.utilization",
        "gpu.under_load",
        "host.kernel_trouble",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        links = _links(facts)
        cites = cite_all(facts, "gpu.pcie_width", "gpu.pcie_width_max", "gpu.pcie_gen", "gpu.pcie_gen_max")
        found = []
        if links.narrow:
            idle = facts.flag("gpu.under_load") is False
            says = "lanes are missing while idle, when a link may rest: " if idle else "lanes are missing: "
            found.append(Observation(says + ", ".join(links.narrow), cites, 0.6, 0.1 if idle else 0.005))
        if links.slow:
            found.append(Observation("slow under load: " + ", ".join(links.slow), cites, 0.6, 0.005))
        if links.odd and not links.narrow:
            found.append(Observation("narrower than the other cards: " + ", ".join(links.odd), cites, 0.4, 0.05))
        if links.full:
            found.append(Observation("every link shows all lanes and its full speed under load", cites, 0.02, 0.9))
        if (errors := _kernel(facts)) is not None:
            found.append(errors)
        return tuple(found)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        links = _links(facts)
        idle = facts.flag("gpu.under_load") is False
        if links.full or links.slow or (links.narrow and not idle):
            return ()
        if facts.get("gpu.pcie_width") is None and facts.get("gpu.pcie_gen") is None:
            return (Probe("gpu.samples", "width and generation of the links are not known", 2),)
        return (Probe("gpu.samples", "links drop their speed when idle: sample them while requests run", 2),)

    def advise(self, facts: Facts) -> Advice:
        links = _links(facts)
        bad = ", ".join(links.narrow + links.slow + links.odd) or "the card that the kernel log names"
        cites = cite_all(facts, "gpu.pcie_width", "gpu.pcie_gen", "host.kernel_trouble")
        remedy = Remedy(
            self.id,
            "operator",
            f"Re-seat or move {bad}; until then leave it out with CUDA_VISIBLE_DEVICES, or give it a stage of its own",
            Change(),
            cites,
            risks=("the host is down while cards are moved",),
            verify="all lanes and the full generation while requests run",
            rollback="none needed",
        )
        declined = Declined(
            "NCCL_P2P_DISABLE",
            "it moves the traffic through host memory over the same lanes",
            cites,
        )
        return Advice((remedy,), (declined,))


def _links(facts: Facts) -> _Links:
    width, most = numbers_by_gpu(facts, "gpu.pcie_width"), numbers_by_gpu(facts, "gpu.pcie_width_max")
    gen, best = numbers_by_gpu(facts, "gpu.pcie_gen"), numbers_by_gpu(facts, "gpu.pcie_gen_max")
    loaded, busy = facts.flag("gpu.under_load") is True, numbers_by_gpu(facts, "gpu.utilization")
    working = {g for g in gen if loaded and busy.get(g, 100.0) >= WORKING_PERCENT}
    narrow = tuple(f"GPU {g} x{w:g} of x{most[g]:g}" for g, w in width.items() if w < most.get(g, 0))
    slow = tuple(f"GPU {g} Gen{v:g} of Gen{best[g]:g}" for g, v in gen.items() if g in working and v < best.get(g, 0))
    widest = max(width.values(), default=0)
    odd = tuple(f"GPU {g} x{w:g} beside x{widest:g}" for g, w in width.items() if w < widest)
    known = bool(width) and width.keys() == most.keys() and bool(gen) and gen.keys() == best.keys()
    return _Links(narrow, slow, odd, full=known and working == gen.keys() and not (narrow or slow))


def _kernel(facts: Facts) -> Observation | None:
    items, cites = every(facts, "host.kernel_trouble")
    lines = [str(line) for line in items]
    about = [line for line in lines if any(word in line.lower() for word in _KERNEL_WORDS)]
    if not about:
        return None
    says = f"{len(about)} kernel line{'s' if len(about) > 1 else ''} about PCIe trouble"
    return Observation(says, cites, 0.5, 0.06)


CAUSE = DegradedPcieLink()
