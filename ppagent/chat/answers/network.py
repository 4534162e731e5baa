"""Is it the NIC? What links the stages: inside one machine no network does; over several, what is known of it."""

from ppagent.agent.investigation import Investigation
from ppagent.causes.links import nodes, nvlink, world
from ppagent.causes.situation import Known, stages
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped

NETWORK = ("IC005", "PD001")
FAR = {
    "PIX": "through one PCIe switch",
    "PXB": "through several PCIe switches",
    "PHB": "through a CPU's PCIe host bridge",
    "NODE": "between the PCIe host bridges of one CPU socket",
    "SYS": "between CPU sockets",
}
"""What nvidia-smi topo -m means by its marks."""
UNKNOWN = "Whether one machine serves or several is not known here: the launch command's --nnodes says it."


def network_lines(found: Investigation, width: int) -> list[Line]:
    """Whether a network card can be in the way, what links the cards, and the causes that are about a network."""
    facts = found.facts
    hosts, cards = nodes(facts), world(facts)
    if hosts is None:
        lines = wrapped(UNKNOWN, width, tone="verdict")
    elif cards is not None and cards.value <= 1:
        says = "No: one card does it all, so nothing links it to another"
        return [*wrapped(tagged(says, cards.cites) + ".", width, tone="verdict"), *_found(found, width)]
    elif hosts.value <= 1:
        says = f"No: all cards are in one machine, so no network card is between the {_parts(facts)}"
        lines = wrapped(tagged(says, hosts.cites) + ".", width, tone="verdict")
    else:
        lines = wrapped(tagged(_several(facts, hosts), hosts.cites) + ".", width, tone="verdict")
    lines += wrapped(linked(facts), width, "  ")
    for cause_id in NETWORK:
        hypothesis = found.board.of(cause_id)
        concerns = hypothesis is not None and (hypothesis.state != "refuted" or (hosts is not None and hosts.value > 1))
        if hypothesis is not None and concerns:
            lines += wrapped(f"{cause_and_state(hypothesis)}.", width, "  ")
    return [*lines, *_found(found, width)]


def _found(found: Investigation, width: int) -> list[Line]:
    return wrapped(f"Found here: {found.summary}", width, "  ")


def linked(facts: Facts) -> str:
    """What the cards of one machine talk over."""
    seen = nvlink(facts)
    worst = facts.text("gpu.link_worst")
    if seen is None and worst is None:
        return "What links the cards was not read: nvidia-smi topo -m shows it."
    cites = tuple(dict.fromkeys((*(seen.cites if seen is not None else ()), *facts.cite("gpu.link_worst"))))
    if seen is not None and seen.yes:
        return tagged("The cards are linked by NVLink", cites) + "."
    far = f", the farthest two {FAR[worst]} ({worst})" if worst in FAR else ""
    lanes = _lanes(facts)
    cites = tuple(dict.fromkeys((*cites, *facts.cite("gpu.pcie_gen"))))
    return tagged(f"The cards are linked by PCIe{lanes}, without NVLink{far}", cites) + "."


def _lanes(facts: Facts) -> str:
    gens, widths = facts.numbers("gpu.pcie_gen").values(), facts.numbers("gpu.pcie_width").values()
    return f" Gen{min(gens):g} x{min(widths):g}" if gens and widths else ""


def _several(facts: Facts, hosts: Known) -> str:
    ring = stages(facts)
    split = f", {ring.value:g} stages over them" if ring is not None and ring.value > 1 else ""
    return f"A network is between the machines: {hosts.says}{split}"


def _parts(facts: Facts) -> str:
    ring = stages(facts)
    return "stages" if ring is not None and ring.value > 1 else "cards"
