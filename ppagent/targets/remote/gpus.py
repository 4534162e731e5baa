"""The cards over a stretch of time: through NVML where a Python on the host has it, else through nvidia-smi."""

import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.inside import run_python
from ppagent.targets.remote.link import Link, Ran, run
from ppagent.targets.remote.sections import script
from ppagent.targets.remote.servers import Server

STEP_S = 1.0
_SLACK_S = 20.0
_QUERY = (
    "timestamp,index,name,pci.bus_id,utilization.gpu,power.draw,power.limit,enforced.power.limit,power.default_limit,"
    "memory.used,memory.total,clocks.sm,clocks.max.sm,temperature.gpu,pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max,clocks_{0}_reasons.active"
)
_SMI = (
    'w=$1 m=$2; for q in "$3" "$4"; do echo "$m samples"; timeout -k 1 "$w" nvidia-smi --query-gpu="$q" '
    '--format=csv,nounits -lms 1000; r=$?; [ "$r" = 124 ] && r=0; [ "$r" = 2 ] || break; done; echo "$m processes"; '
    "timeout -k 1 15 nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv,noheader,nounits; exit $r"
)
"""Samples under the newer name of the throttle reasons, else under the older one, until the time is up (124)."""


@dataclass(frozen=True)
class Cards:
    """What was seen of the cards, in the forms of a recording."""

    samples: str
    processes: str
    driver: str = ""
    cuda: str = ""
    remark: str = ""
    """Why another way than NVML was taken; empty where it was not."""


def sample_cards(link: Link, server: Server | None, titles: Mapping[int, str], window_s: float) -> Cards:
    """Samples all cards for `window_s`. `titles` names processes by id. Raises NotRecorded where nothing can tell."""
    try:
        return _by_nvml(link, server, titles, window_s)
    except NotRecorded as reason:
        return _by_smi(link, titles, window_s, str(reason))


def _by_nvml(link: Link, server: Server | None, titles: Mapping[int, str], window_s: float) -> Cards:
    mark = f"@@{secrets.token_hex(8)}"
    arguments = [f"{window_s:g}", f"{STEP_S:g}", mark]
    source = script("gpu_sampler.py")
    reasons = []
    for ran in _attempts(link, server, source, arguments, window_s + _SLACK_S):
        parts = _parts(ran.text, mark)
        if _rows(parts.get("samples", "")):
            driver, _, cuda = parts.get("driver", "").strip().partition(",")
            return Cards(parts["samples"], _processes(parts.get("processes", ""), titles), driver, _cuda_version(cuda))
        reasons.append(ran.complaint)
    raise NotRecorded("; ".join(dict.fromkeys(reasons)) or "there is no server whose Python could be asked")


def _attempts(link: Link, server: Server | None, source: str, arguments: list[str], timeout_s: float) -> list[Ran]:
    """The server's own Python first; on this machine ours too, since ppagent may have what the server lacks."""
    ran: list[Ran] = []
    if server is not None:
        with suppress(ToolError):  # where its Python cannot be told, nvidia-smi can still be asked
            ran.append(run_python(link, server, source, arguments, timeout_s=timeout_s))
    if link.kind == "local" and not any(each.ok for each in ran):
        words = [sys.executable, "-I", "-B", "-", *arguments]
        ran.append(run(link, words, timeout_s=timeout_s, stdin=source.encode()))
    return ran


def _by_smi(link: Link, titles: Mapping[int, str], window_s: float, why: str) -> Cards:
    mark = f"@@{secrets.token_hex(8)}"
    words = [f"{window_s:g}", mark, _QUERY.format("event"), _QUERY.format("throttle")]
    ran = run(link, ["sh", "-c", _SMI, "ppagent", *words], timeout_s=window_s + _SLACK_S)
    parts = _parts(ran.text, mark)
    samples = parts.get("samples", "")
    if not _rows(samples):
        said = _complaint(samples) or ran.complaint
        raise NotRecorded(f"the cards cannot be read: {why}; nvidia-smi: {said}")
    return Cards(samples, _processes(_with_index(parts.get("processes", ""), samples), titles), remark=why)


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


def _processes(rows: str, titles: Mapping[int, str]) -> str:
    """gpu_processes.csv: a process is called by its title, which names its rank, where it is one of the server's."""
    lines = ["index,pid,name,used_memory_mib"]
    for row in rows.splitlines():
        cells = [cell.strip() for cell in row.split(",")]
        if len(cells) == 3 and cells[0] and cells[1].isdecimal():
            memory = cells[2] if cells[2].isdecimal() else ""
            lines.append(f"{cells[0]},{cells[1]},{titles.get(int(cells[1]), '')},{memory}")
    return "\n".join((*lines, ""))


def _with_index(rows: str, samples: str) -> str:
    """Rows that name a card by its bus, by its index instead, as the samples have both."""
    buses = {}
    header, *lines = [[cell.strip() for cell in line.split(",")] for line in samples.splitlines()] or [[]]
    if "index" in header and "pci.bus_id" in header:
        buses = {c[header.index("pci.bus_id")]: c[header.index("index")] for c in lines if len(c) == len(header)}
    split = (row.partition(",") for row in rows.splitlines())
    return "\n".join(f"{buses.get(bus.strip(), '')},{rest}" for bus, _, rest in split)


def _cuda_version(text: str) -> str:
    """13000 as 13.0."""
    text = text.strip()
    return f"{int(text) // 1000}.{int(text) % 1000 // 10}" if text.isdecimal() else ""
