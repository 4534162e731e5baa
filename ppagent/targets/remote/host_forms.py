"""What the survey read of the machine, in the forms that a recording has."""

import json
import re
from collections.abc import Mapping

from ppagent.errors import ToolError
from ppagent.targets.remote.gpus import Cards
from ppagent.targets.remote.sections import Sections

_KIB_PER_GIB = 1 << 20


def host_text(survey: Sections) -> str:
    """host.json. A key whose source could not be read is left out."""
    cpu = _lscpu(survey["cpu"].text)
    facts: dict[str, object] = {
        "cpu_model": cpu.get("Model name"),
        "sockets": _whole(cpu.get("Socket(s)")),
        "cores": _times(_whole(cpu.get("Core(s) per socket")), _whole(cpu.get("Socket(s)"))),
        "threads": _whole(cpu.get("CPU(s)")),
        "numa_nodes": _whole(cpu.get("NUMA node(s)")),
        "governor": _governor(survey),
        "load_average": [float(cell) for cell in re.findall(r"\b\d+\.\d+\b", _said(survey, "load"))[:3]] or None,
        "memory_gib": _memory_gib(survey, "MemTotal"),
        "memory_available_gib": _memory_gib(survey, "MemAvailable"),
        "shm_gib": _shm_gib(survey, 1),
        "shm_used_gib": _shm_gib(survey, 2),
        "kernel": _said(survey, "kernel") or None,
        "numa_balancing": _whole(_said(survey, "balancing")),
        "iommu": _iommu(survey),
    }
    known = {key: value for key, value in facts.items() if value not in (None, "")}
    return json.dumps(known, indent=1, ensure_ascii=False) + "\n"


def kernel_text(survey: Sections, who: str) -> str:
    """dmesg.txt: the lines that concern cards, buses and memory. Raises ToolError where rights are missing."""
    section = survey["kernel_log"]
    if not section.output.strip():
        raise ToolError(f"the kernel log may not be read by {who}; `sudo dmesg` would give it")
    return section.text


def topology_text(survey: Sections) -> str:
    """topology.txt. Raises NotRecorded with what nvidia-smi said."""
    return survey.output("topology", "how the cards are connected is not known")


def packages_text(packages: Mapping[str, str], torch_cuda: str, survey: Sections | None, cards: Cards | None) -> str:
    """packages.txt, as `pip freeze` writes it; the driver and CUDA stand in it as if they were packages."""
    found = {f"{name}=={version}" for name, version in packages.items()}
    if torch_cuda:
        found.add(f"cuda-of-torch=={torch_cuda}")
    driver, cuda = _driver(survey)
    driver, cuda = (cards.driver or driver, cards.cuda or cuda) if cards is not None else (driver, cuda)
    found |= {f"nvidia-driver=={driver}"} if driver else set()
    found |= {f"cuda-driver=={cuda}"} if cuda else set()
    return "\n".join((*sorted(found, key=str.lower), ""))


def _driver(survey: Sections | None) -> tuple[str, str]:
    """Versions of the driver and of the CUDA it speaks, from the head of nvidia-smi."""
    text = _said(survey, "smi") if survey is not None else ""
    driver = re.search(r"(?:Driver|KMD) Version:\s*([\d.]+)", text)
    cuda = re.search(r"CUDA (?:UMD )?Version:\s*([\d.]+)", text)
    return (driver[1] if driver else "", cuda[1] if cuda else "")


def _said(survey: Sections, name: str) -> str:
    return survey[name].text.strip() if name in survey else ""


def _lscpu(text: str) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _times(one: int | None, other: int | None) -> int | None:
    return one * other if one is not None and other is not None else None


def _governor(survey: Sections) -> str | None:
    """The governor of the CPUs; several with how many CPUs have each."""
    rows = [line.split() for line in _said(survey, "governors").splitlines()]
    names = [row[1] for row in rows if len(row) == 2]
    if len(names) < 2:
        return names[0] if names else None
    return ", ".join(f"{row[1]} ({row[0]} CPUs)" for row in rows if len(row) == 2)


def _memory_gib(survey: Sections, name: str) -> float | None:
    match = re.search(rf"{name}:\s*(\d+) kB", _said(survey, "memory"))
    return round(int(match[1]) / _KIB_PER_GIB, 1) if match else None


def _shm_gib(survey: Sections, column: int) -> float | None:
    lines = _said(survey, "shm").splitlines()
    cells = lines[1].split() if len(lines) > 1 else []
    return round(int(cells[column]) / _KIB_PER_GIB, 2) if len(cells) > column and cells[column].isdecimal() else None


def _iommu(survey: Sections) -> str | None:
    """What the kernel's command line and the devices say of IOMMU and ACS."""
    hints = re.findall(r"\S*(?:iommu|acs)\S*", _said(survey, "boot"))
    units = len(_said(survey, "iommu").splitlines())
    hints += [f"{units} IOMMU units active"] if units else []
    acs = _whole(_said(survey, "acs"))
    hints += [f"ACS source validation on {acs} bridges"] if acs else []
    return "; ".join(hints) or None
