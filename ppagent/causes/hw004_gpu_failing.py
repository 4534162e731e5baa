"""HW004 a GPU is failing

What it is
    A card reports faults of its own: uncorrectable memory errors, a lost bus, a dead link, a hung firmware.

Why it matters
    The rank on it dies or hangs, and the others wait for it until their watchdog ends the server. Restarting does not
    help for long.

Signals
    Xid 48, 63, 64, 74, 79, 92, 94, 95, 119, 120 in the kernel log; ECC or `fallen off the bus` lines; fewer GPUs than
    the server was built for.

What refutes it
    A kernel log that was read and has neither Xid nor such lines. Xid 13, 31, 43 and 45 mostly follow a program's own
    fault (an illegal address, an aborted process) and are no proof.

Remedies
    Take the card out, reset or replace it; until then serve from the others.
"""

import re

from ppagent.causes.cards import cite_all, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import every, trouble, trouble_words
from ppagent.evidence.digits import whole_number
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

HARDWARE_XIDS = {
    48: "double-bit ECC error",
    63: "memory row remapped",
    64: "row remapping failed",
    74: "NVLink error",
    79: "fallen off the bus",
    92: "many corrected memory errors",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "firmware does not answer",
    120: "firmware fault",
}
"""NVIDIA's Xid numbers that speak of the card rather than of the program on it."""

_KERNEL_WORDS = re.compile(r"fallen off the bus|uncorrect\w*|\becc\b|gpu (?:has been|is) lost", re.IGNORECASE)


class GpuFailing:
    id = "HW004"
    name = "a GPU is failing"
    prior = 0.02
    wants = ("host.xid", "host.kernel_trouble", "trouble.xid", "gpu.count")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        found = (_hardware_xid(facts), _software_xid(facts), _kernel(facts), _missing(facts), _quiet(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        if facts.get("host.xid") is not None:
            return ()
        return (Probe("host.kernel", "Xid and ECC lines stand in the kernel log", 2),)

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("host.xid", "trouble.xid", "host.kernel_trouble", "gpu.count")
        sick = sorted({gpu for _, gpu in _xids(facts) if gpu})
        where = f"GPU {', '.join(sick)}" if sick else "the card that the kernel log names"
        remedy = Remedy(
            self.id,
            "operator",
            f"Take {where} out of service, reset it, and replace it if the fault returns",
            Change(),
            cites,
            risks=("the server has one card less until then: the parallel sizes must fit",),
            verify="a burn-in on the card and a kernel log without new Xid lines",
            rollback="none needed",
        )
        declined = Declined("--watchdog-timeout", "a longer wait for a dead card ends the same way", cites)
        return Advice((remedy,), (declined,))


def _xids(facts: Facts) -> list[tuple[int, str]]:
    """Every Xid with the GPU or bus address that reported it, kernel log and server log alike."""
    events = [_xid(event) for event in every(facts, "host.xid")[0]]
    said = [whole_number(code) for code in trouble_words(facts, "xid", "code").split("; ")]
    device = trouble_words(facts, "xid", "device")
    return [event for event in events if event is not None] + [(code, device) for code in said if code is not None]


def _xid(event: FactValue) -> tuple[int, str] | None:
    code = whole_number(str(event.get("code", ""))) if isinstance(event, dict) else None
    if code is None or not isinstance(event, dict):
        return None
    gpu = event.get("gpu")
    return code, "" if gpu is None else str(gpu)


def _hardware_xid(facts: Facts) -> Observation | None:
    found = [(code, gpu) for code, gpu in _xids(facts) if code in HARDWARE_XIDS]
    if not found:
        return None
    code, gpu = found[0]
    where = f" on {gpu}" if gpu else ""
    says = f"Xid {code} ({HARDWARE_XIDS[code]}){where}, {len(found)} of the card's own in all"
    return Observation(says, cite_all(facts, "host.xid", "trouble.xid.code"), 0.7, 0.001)


def _software_xid(facts: Facts) -> Observation | None:
    found = {code for code, _ in _xids(facts)}
    if not found or found & HARDWARE_XIDS.keys():
        return None
    codes = ", ".join(str(code) for code in sorted(found))
    says = f"Xid {codes}, which mostly follows a program's own fault"
    return Observation(says, cite_all(facts, "host.xid", "trouble.xid.code"), 0.2, 0.15)


def _kernel(facts: Facts) -> Observation | None:
    lines, cites = every(facts, "host.kernel_trouble")
    about = [str(line) for line in lines if _KERNEL_WORDS.search(str(line))]
    if not about:
        return None
    return Observation(f"the kernel reports: {about[0][:120].rstrip('. ')}", cites, 0.6, 0.004)


def _missing(facts: Facts) -> Observation | None:
    wanted, seen = facts.number("stated.gpu_count"), facts.number("gpu.count")
    if wanted is None or seen is None or seen >= wanted:
        return None
    says = f"{seen:g} GPUs answer of {wanted:g} stated"
    return Observation(says, facts.cite("gpu.count", "stated.gpu_count"), 0.3, 0.04)


def _quiet(facts: Facts) -> Observation | None:
    cites = every(facts, "host.xid")[1]
    if not cites or _xids(facts) or trouble(facts, "xid") is not None or _kernel(facts) is not None:
        return None
    return Observation("the kernel log has neither Xid nor memory errors", cites, 0.03, 0.9)


CAUSE = GpuFailing()
