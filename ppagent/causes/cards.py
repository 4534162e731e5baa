"""What the GPUs are and how hard they work, from samples where there are any, else from what the user stated."""

import re

from ppagent.causes.sighting import Sighting
from ppagent.causes.situation import Cites, Known
from ppagent.evidence.facts import Facts

_ARCHITECTURES = (
    ("sm120", r"RTX PRO \d{4}|RTX 50\d\d|\b50[789]0\b|\bGB10\b"),
    ("sm100", r"\bG?B[23]00\b"),
    ("sm90", r"\bG?H(20|100|200|800)\b"),
    ("sm89", r"\bL4\b|\bL40S?\b|\bL20\b|RTX 40\d\d|\b40[789]0\b|\b\d{4} Ada\b"),
    ("sm80", r"\bA(100|800|30)\b"),
    ("sm86", r"RTX 30\d\d|\b30[789]0\b|\bA(10G?|40|16|2|[456]\d00)\b"),
    ("sm75", r"\bT4\b|RTX 20\d\d"),
    ("sm70", r"\bV100\b"),
)
"""Compute capability by the name that nvidia-smi prints."""

_BOARDS_WITH_NVLINK = r"SXM|HBM3|\bG?B[23]00\b|\bH20\b|\bH200\b(?! NVL)|\bH800\b(?! PCIe)"
WITHOUT_NVLINK = frozenset({"sm120", "sm89", "sm75"})
"""Architectures whose cards have no NVLink connector (Turing's RTX bridges are not used for serving)."""


def _names(facts: Facts) -> tuple[list[str], Cites]:
    names = [str(name) for name in facts.table("gpu.names").values() if name]
    if names:
        return names, facts.cite("gpu.names")
    stated = facts.first("stated.gpu_model", "recording.gpus")
    return ([str(stated.value)], (stated.evidence,)) if stated is not None else ([], ())


def architecture_of(name: str) -> str | None:
    """"sm120" for "NVIDIA RTX PRO 6000 Blackwell Server Edition"; None for a card that is not in the table."""
    return next((arch for arch, pattern in _ARCHITECTURES if re.search(pattern, name, re.IGNORECASE)), None)


def architecture(facts: Facts) -> tuple[str, Known] | None:
    """The one architecture of all GPUs, with the evidence; None where it is unknown or mixed."""
    names, cites = _names(facts)
    found = {architecture_of(name) for name in names}
    arch = found.pop() if len(found) == 1 else None
    return None if arch is None else (arch, Known(float(arch[2:]), cites, f"{names[0]} ({arch.upper()})"))


def nvlink_by_name(facts: Facts) -> Sighting | None:
    """Whether cards of that name come with NVLink between them: a guess for where no topology was read."""
    names, cites = _names(facts)
    if not names:
        return None
    if all(re.search(_BOARDS_WITH_NVLINK, name) for name in names):
        return Sighting(True, cites, f"{names[0]} comes with NVLink")
    if all(architecture_of(name) in WITHOUT_NVLINK or "PCIe" in name for name in names):
        return Sighting(False, cites, f"{names[0]} has no NVLink")
    return None


def under_load(facts: Facts) -> bool:
    """Whether the GPU samples may be read as those of a working server: not known to be idle."""
    return facts.flag("gpu.under_load") is not False


def power_share(facts: Facts) -> Known | None:
    """Mean power under load over its limit, 0 to 1: samples, else the upper end of what was stated."""
    power, limit = facts.numbers("gpu.power_w"), facts.numbers("gpu.power_limit_w")
    shares = [watts / limit[gpu] for gpu, watts in power.items() if limit.get(gpu)]
    if shares and under_load(facts):
        share = sum(shares) / len(shares)
        mean_w = sum(power.values()) / len(power)
        says = f"{mean_w:.0f} W a GPU, {share:.0%} of the limit"
        return Known(share, facts.cite("gpu.power_w", "gpu.power_limit_w"), says)
    return _stated_share(facts)


def _stated_share(facts: Facts) -> Known | None:
    high, limit = facts.numbers("stated.power_w").get("high"), facts.number("stated.power_limit_w")
    if high is None or not limit:
        return None
    says = f"up to {high:g} W of {limit:g} W stated"
    return Known(high / limit, facts.cite("stated.power_w", "stated.power_limit_w"), says)


def peak_share(facts: Facts) -> Known | None:
    """The highest power of any GPU over its limit: whether the cap is ever reached."""
    peak = facts.numbers("gpu.power_max_w") or facts.numbers("gpu.power_w")
    limit = facts.numbers("gpu.power_limit_w")
    shares = {gpu: watts / limit[gpu] for gpu, watts in peak.items() if limit.get(gpu)}
    if not shares or not under_load(facts):
        return _stated_share(facts)
    gpu = max(shares, key=lambda index: shares[index])
    says = f"GPU {gpu} reaches {peak[gpu]:.0f} W of its limit of {limit[gpu]:.0f} W"
    return Known(shares[gpu], facts.cite("gpu.power_max_w", "gpu.power_w", "gpu.power_limit_w"), says)


def utilization(facts: Facts) -> Known | None:
    """Mean utilisation under load, percent. It counts a waiting kernel as work."""
    sampled = facts.numbers("gpu.utilization")
    if sampled and under_load(facts):
        mean = sum(sampled.values()) / len(sampled)
        return Known(mean, facts.cite("gpu.utilization"), f"utilisation {mean:.0f} %")
    stated = facts.numbers("stated.utilization")
    if not stated:
        return None
    mean = sum(stated.values()) / len(stated)
    return Known(mean, facts.cite("stated.utilization"), f"utilisation {mean:.0f} % stated")


def spinning(facts: Facts) -> Known | None:
    """Known where the GPUs look busy and draw little: kernels that wait (utilisation of 85 % and more, a third of the
    power limit or less). A decoding card of 600 W draws about half its limit."""
    busy, power = utilization(facts), power_share(facts)
    if busy is None or power is None or busy.value < 85 or power.value > 0.35:
        return None
    return Known(power.value, busy.cites + power.cites, f"{busy.says} at {power.says}")
