"""The cards over a stretch of time: through NVML where a Python on the host has it, else through nvidia-smi."""

import re
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass, replace

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.gpu_owners import Owners
from ppagent.targets.remote.inside import run_python
from ppagent.targets.remote.link import Link, Ran, run
from ppagent.targets.remote.sections import Sections, script
from ppagent.targets.remote.servers import Server

STEP_S = 1.0
_SLACK_S = 20.0
_QUERY = (
    "timestamp,index,name,uuid,pci.bus_id,utilization.gpu,power.draw,power.limit,enforced.power.limit,power.default_limit,"
    "memory.used,memory.total,clocks.sm,clocks.max.sm,temperature.gpu,pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max,clocks_{0}_reasons.active"
)
_SMI = (
    'w=$1 m=$2; for q in "$3" "$4"; do echo "$m samples"; timeout -k 1 "$w" nvidia-smi --query-gpu="$q" '
    '--format=csv,nounits -lms 1000; r=$?; [ "$r" = 124 ] && r=0; [ "$r" = 2 ] || break; done; echo "$m processes"; '
    "timeout -k 1 15 nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv,noheader,nounits; exit $r"
)
"""Samples under the newer name of the throttle reasons, else under the older one, until the time is up (124)."""
_GONE = re.compile(
    r"Unable to determine the device handle for GPU\s*(?:\d+:\s+)?(?P<bus>[0-9A-Fa-f:.]+):\s+(?P<says>\w[\w ]*)"
)
"""All that nvidia-smi says where one card has fallen off the bus, whatever the others do."""


@dataclass(frozen=True)
class Cards:
    """What was seen of the cards, in the forms of a recording."""

    samples: str
    processes: str
    """Empty where no card gave a list of them."""
    driver: str = ""
    cuda: str = ""
    remark: str = ""
    """Why another way than NVML was taken; empty where it was not."""

    def who(self) -> str:
        """gpu_processes.csv. Raises NotRecorded where no card gave a list."""
        if not self.processes:
            raise NotRecorded("no card gives a list of its processes, neither to NVML nor to nvidia-smi")
        return self.processes


def sample_cards(link: Link, server: Server | None, owners: Owners, window_s: float) -> Cards:
    """Samples all cards for `window_s`. `owners` names their processes. Raises NotRecorded where nothing can tell."""
    try:
        return _by_nvml(link, server, owners, window_s)
    except NotRecorded as reason:
        return _by_smi(link, owners, window_s, str(reason))


def numbered_as_on(survey: Sections, cards: Cards) -> Cards:
    """Cards as the host numbers them, by their bus: a container counts those it was given from 0. As they are where the
    host cannot tell."""
    listed = survey["gpus"].text if "gpus" in survey else ""
    rows = [[cell.strip() for cell in line.split(",")] for line in listed.splitlines()]
    host = {row[2].lower(): row[0] for row in rows if len(row) > 2}
    own = {index: host.get(bus.lower(), "") for bus, index in _buses(cards.samples).items()}
    if not own or not all(own.values()):
        return cards
    return replace(cards, samples=_renumbered(cards.samples, 1, own), processes=_renumbered(cards.processes, 0, own))


def _renumbered(rows: str, column: int, own: dict[str, str]) -> str:
    cells = [line.split(",") for line in rows.splitlines()]
    for row in cells[1:]:
        row[column : column + 1] = [own.get(row[column], row[column])]
    return "".join(",".join(row) + "\n" for row in cells)


def _by_nvml(link: Link, server: Server | None, owners: Owners, window_s: float) -> Cards:
    mark = f"@@{secrets.token_hex(8)}"
    arguments = [f"{window_s:g}", f"{STEP_S:g}", mark]
    source = script("gpu_sampler.py")
    reasons = []
    for ran, within in _attempts(link, server, source, arguments, window_s + _SLACK_S):
        parts = _parts(ran.text, mark)
        if _rows(parts.get("samples", "")):
            driver, _, cuda = parts.get("driver", "").strip().partition(",")
            processes = owners.table(parts.get("processes", ""), within=within)
            return Cards(parts["samples"], processes, driver, _cuda_version(cuda))
        reasons.append(ran.complaint)
    raise NotRecorded("; ".join(dict.fromkeys(reasons)) or "there is no server whose Python could be asked")


def _attempts(
    link: Link, server: Server | None, source: str, arguments: list[str], timeout_s: float
) -> list[tuple[Ran, bool]]:
    """The server's own Python first, and whether that is in a container; on this machine ours too, since ppagent may
    have what the server lacks."""
    ran: list[tuple[Ran, bool]] = []
    if server is not None:
        with suppress(ToolError):  # where its Python cannot be told, nvidia-smi can still be asked
            ran.append((run_python(link, server, source, arguments, timeout_s=timeout_s), bool(server.container)))
    if link.kind == "local" and not any(each.ok for each, _ in ran):
        words = [sys.executable, "-I", "-B", "-", *arguments]
        ran.append((run(link, words, timeout_s=timeout_s, stdin=source.encode()), False))
    return ran


def _by_smi(link: Link, owners: Owners, window_s: float, why: str) -> Cards:
    mark = f"@@{secrets.token_hex(8)}"
    words = [f"{window_s:g}", mark, _QUERY.format("event"), _QUERY.format("throttle")]
    ran = run(link, ["sh", "-c", _SMI, "ppagent", *words], timeout_s=window_s + _SLACK_S)
    parts = _parts(ran.text, mark)
    samples = parts.get("samples", "")
    if gone := _GONE.search(samples):
        return Cards(f"index,name,pci.bus_id\n,[{gone['says']}],{gone['bus']}\n", "", remark=why)
    if not _rows(samples):
        said = _complaint(samples) or ran.complaint
        raise NotRecorded(f"the cards cannot be read: {why}; nvidia-smi: {said}")
    processes = _with_index(parts.get("processes", ""), samples)
    return Cards(samples, owners.table(processes, within=False), remark=why)


def _parts(text: str, mark: str) -> dict[str, str]:
    """The pieces of the output by name; of two with one name the later one, which is the one that worked."""
    found = {}
    for piece in text.split(f"{mark} ")[1:]:
        name, _, body = piece.partition("\n")
        found[name.strip()] = body
    return found


def _rows(samples: str) -> bool:
    return sum(1 for line in samples.splitlines() if line.count(",") > 5) > 1


def _complaint(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else ""


def _with_index(rows: str, samples: str) -> str:
    """Rows that name a card by its bus, by its index instead, as the samples have both."""
    buses = _buses(samples)
    split = (row.partition(",") for row in rows.splitlines())
    return "\n".join(f"{buses.get(bus.strip(), '')},{rest}" for bus, _, rest in split)


def _buses(samples: str) -> dict[str, str]:
    """Indices by bus."""
    header, *lines = [[cell.strip() for cell in line.split(",")] for line in samples.splitlines()] or [[]]
    if "index" not in header or "pci.bus_id" not in header:
        return {}
    bus, index = header.index("pci.bus_id"), header.index("index")
    return {cells[bus]: cells[index] for cells in lines if len(cells) == len(header)}


def _cuda_version(text: str) -> str:
    """13000 as 13.0."""
    text = text.strip()
    return f"{int(text) // 1000}.{int(text) % 1000 // 10}" if text.isdecimal() else ""
