"""The kernel log, read for what concerns the cards and the way to them."""

import re

from ppagent.evidence.evidence import FactValue, Finding
from ppagent_tools.reading import Document

MOST_LINES = 50

_XID = re.compile(
    r"NVRM: (?:GPU at )?(?:PCI:\S+: )?Xid \((?:PCI:)?(?P<gpu>[0-9A-Fa-f:.]+)\): (?P<code>\d{1,6})\b(?:, (?P<text>.*))?"
)
_TROUBLE = re.compile(
    r"\bAER\b.*(?:error|lost|multiple)|PCIe Bus Error|fallen off the bus|RmInitAdapter failed"
    r"|NVRM: .*(?:fail|error|lost)"
    r"|uncorrect\w* .*(?:ecc|memory)|\bECC\b.*(?:error|uncorrect)|Row Remapper|row remap\w* fail|EDAC .*\b(?:UE|CE)\b"
    r"|Hardware Error|(?:pcie|nvlink)\S*:? .*\blink (?:is )?down|Surprise Down"
    r"|nvidia-nvswitch\S*: .*(?:fatal|SXid)|mce: .*Hardware"
    r"|limited by .* PCIe x(?!16\b)\d+ link.*capable of .* PCIe x16 link|downgraded",
    re.IGNORECASE,
)
"""Cards come up at 2.5 GT/s and speed up when used, so that a boot's "limited by" counts where lanes are missing, and
only of what could have sixteen."""
_OF_DEVICE = re.compile(
    r"(?P<driver>[\w-]+) (?P<bus>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d): (?:AER:|PCIe Bus Error|PCIe AER)",
    re.IGNORECASE,
)
_OF_CARDS = frozenset(("nvidia", "pcieport", "pci", "vfio-pci"))
"""What is at the other end of a PCIe error that may concern a card: its driver, none yet, or the port above it."""
_STAMPS = re.compile(r"^(?:.{0,80}?\bkernel: )?(?:<\d+>|\w+ *: *\w+ *: +)?(?:\d{4}-\d\d-\d\dT\S+ +)?(?:\[[^\]]*\] *)?")
"""What dmesg, journalctl and syslog write before a line's own text, by itself or one after the other."""
_KILLED = re.compile(r"[Oo]ut of memory(?: \([^)]*\))?: Killed process (?P<pid>\d+) \((?P<name>[^)]+)\)")
"""The kernel's own words, of the host's memory and of a container's (`mm/oom_kill.c`)."""
_IOMMU = re.compile(
    r"Command line: .*(?:iommu|acs)\S*|Default domain type|DMAR: IOMMU (?:en|dis)abled|AMD-Vi: .*(?:enabled|init|IO)"
    r"|iommu: .*(?:translated|passthrough)|ACSCtl|\bACS\b|pcie_acs_override",
    re.IGNORECASE,
)


def kernel_findings(found: Document) -> list[Finding]:
    """Xid events, other trouble and hints on IOMMU and ACS, lists of the first two empty where the log has none;
    processes that were killed."""
    lines = [line.strip() for line in found.text.splitlines() if line.strip()]
    events = _kept([(line, match) for line in lines if (match := _XID.search(line))])
    trouble = _of_cards([line for line in lines if _TROUBLE.search(line) and not _XID.search(line)])
    hints = [line for line in lines if _IOMMU.search(line)]
    xids: list[FactValue] = [
        {"gpu": match["gpu"], "code": int(match["code"]), "text": match["text"] or ""} for _, match in events
    ]
    first = events[0][0] if events else lines[0]
    findings = [
        found.finding({"host.xid": xids}, first),
        found.finding({"host.kernel_trouble": _distinct(trouble)}, trouble[0] if trouble else lines[0]),
    ]
    killed = [(line, match) for line in lines if (match := _KILLED.search(line))][:MOST_LINES]
    if killed:
        names: list[FactValue] = [{"pid": int(match["pid"]), "name": match["name"]} for _, match in killed]
        findings.append(found.finding({"host.oom_killed": names}, killed[0][0]))
    if hints:
        findings.append(found.finding({"host.iommu": "; ".join(hints[:MOST_LINES])}, hints[0]))
    return findings


def _kept(events: list[tuple[str, re.Match[str]]]) -> list[tuple[str, re.Match[str]]]:
    """As many as are kept, in order: the first of each card and code, so that no flood of one hides another, then
    those that came first."""
    kinds: dict[tuple[str, str], int] = {}
    for place, (_, match) in enumerate(events):
        kinds.setdefault((match["gpu"], match["code"]), place)
    wanted = list(dict.fromkeys((*kinds.values(), *range(len(events)))))[:MOST_LINES]
    return [events[place] for place in sorted(wanted)]


def _of_cards(lines: list[str]) -> list[str]:
    """Without the PCIe errors of drives and network cards, also as the port above them reports them."""
    told = [match for line in lines if (match := _OF_DEVICE.search(line))]
    others = {match["bus"].lower() for match in told if match["driver"].lower() not in _OF_CARDS}
    return [line for line in lines if not any(bus in line.lower() for bus in others)]


def _distinct(lines: list[str]) -> list[FactValue]:
    """Each line once, whatever its time stamp."""
    seen: dict[str, FactValue] = {}
    for line in lines:
        seen.setdefault(_STAMPS.sub("", line, count=1), line)
    return list(seen.values())[:MOST_LINES]
