"""The matrix of `nvidia-smi topo -m`."""

import re
from dataclasses import dataclass

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.gpu_used import used_cards
from ppagent_tools.reading import Document, document

_FARTHER = ("NV", "PIX", "PXB", "PHB", "NODE", "SYS")
"""Nearest link first, as the legend of the matrix orders them."""
_ANSI = re.compile(r"\x1b?\[[0-9;]*m")
_UNTOLD = ("N/A", "-")


@dataclass(frozen=True)
class Link:
    """How two GPUs are connected, and the matrix row that says so."""

    one: int
    other: int
    kind: str
    row: str

    @property
    def distance(self) -> int:
        return _FARTHER.index("NV" if self.kind.startswith("NV") else self.kind)


def topology_finding(context: ToolContext, host: str) -> Finding:
    """The links between the GPUs used. Raises ToolError where the text is no such matrix."""
    found = document(context, host, Artifact.TOPOLOGY)
    links = read_links(found)
    used = used_cards(context, host)
    among = [link for link in links if not used or {link.one, link.other} <= used] or links
    worst = max(among, key=lambda link: link.distance)
    facts: dict[str, FactValue] = {
        "gpu.nvlink": any(link.kind.startswith("NV") for link in among),
        "gpu.link_worst": worst.kind,
    }
    return found.finding(facts, worst.row)


def read_links(found: Document) -> list[Link]:
    """Every pair of GPUs once."""
    lines = found.text.splitlines()
    plain = [_ANSI.sub("", line) for line in lines]
    start = next((i for i, line in enumerate(plain) if re.match(r"\s*GPU\d+(?:\s|$)", line)), None)
    if start is None:
        raise found.error("no matrix of GPUs (nvidia-smi topo -m) is in it", 1)
    columns = plain[start].split("CPU Affinity")[0].split()
    links: list[Link] = []
    for place in range(start + 1, len(lines)):
        cells = plain[place].split()
        if not cells or not re.fullmatch(r"GPU\d+", cells[0]):
            continue
        links += _row(found, place, int(cells[0][3:]), dict(zip(columns, cells[1:], strict=False)), lines[place])
    if not links:
        if sum(bool(re.match(r"\s*GPU\d+\s+\S*X\b", line)) for line in plain) == 1:
            raise NotRecorded(f"{found.place}: one GPU alone has no link")
        raise found.error("the matrix has no pair of GPUs", start + 1)
    return links


def _row(found: Document, place: int, one: int, cells: dict[str, str], row: str) -> list[Link]:
    links = []
    for column, kind in cells.items():
        if not re.fullmatch(r"GPU\d+", column) or int(column[3:]) <= one or kind in _UNTOLD:
            continue
        if not re.fullmatch(r"NV\d+|PIX|PXB|PHB|NODE|SYS", kind):
            raise found.error(f"{kind!r} is no kind of link", place + 1)
        links.append(Link(one, int(column[3:]), kind, row.strip()))
    return links
