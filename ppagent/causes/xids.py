"""NVIDIA's Xid numbers: which speak of the card rather than of the program on it (its catalog of October 2025)."""

import re

from ppagent.causes.sighting import every, trouble_words
from ppagent.evidence.digits import whole_number
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

HARDWARE_XIDS = {
    46: "the card stopped processing",
    48: "double-bit ECC error",
    62: "a controller on the card halted",
    64: "row remapping failed",
    74: "NVLink error",
    79: "fallen off the bus",
    92: "many corrected memory errors",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "firmware does not answer",
    120: "firmware fault",
    136: "NVLink training failed",
    140: "ECC error not recovered",
    143: "the card did not initialise",
    **dict.fromkeys(range(144, 151), "NVLink error"),
    154: "the driver asks for a reset",
    156: "part of the card was retired",
    157: "retiring a part of the card failed",
    158: "the card timed out",
    167: "PCIe timed out",
    171: "uncorrectable memory error",
    172: "uncorrectable error in on-chip memory",
}
REMAPPED = 63
"""A spare row took the place of a bad row of memory, and the catalog asks for nothing."""

_HARMLESS = re.compile(r"\bNonfatal\b|recovery action changed from .* to 0x0\b", re.IGNORECASE)
"""NVLink events of Blackwell cards that need nothing, and a recovery that is over (Xid 144 to 150, 154)."""


def xids(facts: Facts) -> list[tuple[int, str]]:
    """Every Xid that matters with the GPU or bus address that reported it, kernel log and server log alike."""
    events = [_xid(event) for event in every(facts, "host.xid")[0]]
    said = [whole_number(code) for code in trouble_words(facts, "xid", "code").split("; ")]
    device = trouble_words(facts, "xid", "device")
    return [event for event in events if event is not None] + [(code, device) for code in said if code is not None]


def gpu_of(event: FactValue) -> str:
    """The index or bus address in an object that names a GPU; empty where it names none."""
    gpu = event.get("gpu") if isinstance(event, dict) else None
    return "" if gpu is None else str(gpu)


def _xid(event: FactValue) -> tuple[int, str] | None:
    code = whole_number(str(event.get("code", ""))) if isinstance(event, dict) else None
    if code is None or not isinstance(event, dict):
        return None
    harmless = code in HARDWARE_XIDS and _HARMLESS.search(str(event.get("text") or ""))
    return None if harmless else (code, gpu_of(event))
