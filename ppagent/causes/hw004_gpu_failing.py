"""HW004 a GPU is failing

What it is
    A card reports faults of its own: uncorrectable memory errors, a lost bus, a dead link, a hung firmware.

Why it matters
    The rank on it dies or hangs, and the others wait for it until their watchdog ends the server. Restarting does not
    help for long.

Signals
    Xid 48, 64, 74, 79, 92, 94, 95, 119, 120, 140, 149 and others of the card's own in the kernel log; ECC or `fallen
    off the bus` lines; a card that no longer answers; fewer GPUs than the server was built for; `CUDA error:
    uncorrectable ECC error encountered` in the server's log.

What refutes it
    A kernel log that was read and has neither Xid nor such lines. Xid 13, 31, 43 and 45 mostly follow a program's own
    fault (an illegal address, an aborted process) and are no proof. Xid 63 says that a spare row took the place of a
    bad row of memory: the card goes on.

Remedies
    Take the card out, reset or replace it; until then serve from the others.
"""

import re

from ppagent.causes.cards import cite_all, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import every, trouble, trouble_words
from ppagent.causes.xids import HARDWARE_XIDS, REMAPPED, gpu_of, xids
from ppagent.evidence.facts import Facts

_CUDA_WORDS = re.compile(r"uncorrectable|\becc error", re.IGNORECASE)
_KERNEL_WORDS = re.compile(
    r"fallen off the bus|nvrm: .*(?:uncorrect|\becc\b)|gpu (?:has been|is) lost|gpu likely needs to be reset"
    r"|sxid \([^)]*\): \d+, fatal",
    re.IGNORECASE,
)


class GpuFailing:
    id = "HW004"
    name = "a GPU is failing"
    prior = 0.02
    wants = ("host.xid", "host.kernel_trouble", "trouble.xid", "trouble.cuda_error", "gpu.count", "gpu.lost")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        kernel = (_hardware_xid(facts), _remapped(facts), _software_xid(facts), _kernel(facts), _quiet(facts))
        found = (*kernel, _cuda(facts), _lost(facts), _missing(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        if facts.get("host.xid") is not None:
            return ()
        return (Probe("host.kernel", "Xid and ECC lines stand in the kernel log", 2),)

    def advise(self, facts: Facts) -> Advice:
        names = ("host.xid", "trouble.xid", "trouble.cuda_error", "host.kernel_trouble", "gpu.count", "gpu.lost")
        cites = facts.cite(*names)
        lost = [gpu_of(card) for card in every(facts, "gpu.lost")[0]]
        own = [gpu for code, gpu in xids(facts) if code in HARDWARE_XIDS]
        sick = sorted({gpu for gpu in (*lost, *own) if gpu})
        where = f"GPU {', '.join(sick)}" if sick else "the card that the kernel log (dmesg) names"
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


def _hardware_xid(facts: Facts) -> Observation | None:
    found = [(code, gpu) for code, gpu in xids(facts) if code in HARDWARE_XIDS]
    if not found:
        return None
    code, gpu = found[0]
    where = f" on {gpu}" if gpu else ""
    says = f"Xid {code} ({HARDWARE_XIDS[code]}){where}, {len(found)} of the card's own in all"
    return Observation(says, cite_all(facts, "host.xid", "trouble.xid.code"), 0.7, 0.001)


def _remapped(facts: Facts) -> Observation | None:
    found = {code for code, _ in xids(facts)}
    if REMAPPED not in found or found & HARDWARE_XIDS.keys():
        return None
    cites = cite_all(facts, "host.xid", "trouble.xid.code")
    return Observation("Xid 63: a bad row of memory was replaced by a spare one, the card goes on", cites, 0.3, 0.1)


def _lost(facts: Facts) -> Observation | None:
    """A container that lost its rights to a card gets an unknown error too."""
    cards, cites = every(facts, "gpu.lost")
    said = [(gpu_of(card), str(card.get("says"))) for card in cards if isinstance(card, dict)]
    if not said:
        return None
    says = f"GPU {', '.join(gpu for gpu, _ in said)} no longer answers: {said[0][1]}"
    unclear = all("unknown" in words.lower() for _, words in said)
    return Observation(says, cites, 0.6, 0.01 if unclear else 0.001)


def _software_xid(facts: Facts) -> Observation | None:
    found = {code for code, _ in xids(facts)} - {REMAPPED}
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


def _cuda(facts: Facts) -> Observation | None:
    reasons = trouble_words(facts, "cuda_error", "reason").split("; ")
    said = next((reason for reason in reasons if _CUDA_WORDS.search(reason)), None)
    if said is None:
        return None
    return Observation(f"CUDA reports: {said[:120]}", facts.cite("trouble.cuda_error.reason"), 0.6, 0.002)


def _missing(facts: Facts) -> Observation | None:
    wanted, seen = facts.number("stated.gpu_count"), facts.number("gpu.count")
    if wanted is None or seen is None or seen >= wanted:
        return None
    says = f"{seen:g} GPUs answer of {wanted:g} stated"
    return Observation(says, facts.cite("gpu.count", "stated.gpu_count"), 0.3, 0.04)


def _quiet(facts: Facts) -> Observation | None:
    cites = every(facts, "host.xid")[1]
    seen = every(facts, "host.xid")[0] or every(facts, "gpu.lost")[0]
    if not cites or seen or trouble(facts, "xid") is not None or _kernel(facts) is not None:
        return None
    return Observation("the kernel log has neither Xid nor memory errors", cites, 0.03, 0.9)


CAUSE = GpuFailing()
