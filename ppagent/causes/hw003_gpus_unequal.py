"""HW003 GPUs unequal or shared

What it is
    The cards of one server are of different models, or something else runs on them: a second server, a notebook, a
    process left over from the last start.

Why it matters
    The slowest card paces every collective and the pipeline; the smallest free memory sets the KV pool of all ranks.

Signals
    Processes on the GPUs that are not the server's, with memory worth mentioning; cards of several names or sizes;
    SGLang's `The memory capacity is unbalanced` at start.

What refutes it
    Cards of one name and no foreign process on any. Memory that differs between pipeline stages is not a sign: stages
    hold different layers. A desktop's few megabytes are not one either.

Remedies
    End or move what does not belong there; on mixed cards fewer layers for the weaker ones.
"""

import re

from ppagent.causes.cards import by_gpu, cite_all, numbers_by_gpu, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import every, trouble, trouble_words
from ppagent.causes.situation import stages
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

WORTH_MENTIONING_MIB = 512.0

_HARMLESS = re.compile(
    r"(?:^|/)(?:Xorg|Xwayland|gnome-shell|kwin\w*|plasmashell|gdm\S*|sddm|nv-hostengine|dcgm\S*|nvidia-\w+)(?:\s|$)",
    re.I,
)
"""Desktops and monitors: what they hold is small, also where it is not told how much (`[N/A]` in a container)."""


class GpusUnequal:
    id = "HW003"
    name = "GPUs unequal or shared"
    prior = 0.04
    wants = ("gpu.names", "gpu.foreign_processes", "gpu.memory_total_mib", "trouble.unbalanced_memory")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        found = (_foreign(facts), _mixed(facts), _unbalanced(facts), _clean(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        asked = []
        if facts.get("gpu.foreign_processes") is None:
            asked.append(Probe("gpu.processes", "what else runs on the GPUs is not known", 2))
        if not by_gpu(facts, "gpu.names"):
            asked.append(Probe("gpu.samples", "whether the cards are alike is not known", 2))
        return tuple(asked)

    def advise(self, facts: Facts) -> Advice:
        remedies = []
        if _intruders(facts):
            remedies.append(_free(facts))
        if _kinds(facts) > 1:
            remedies.append(_fewer_layers(facts))
        if not remedies:
            remedies.append(_look(facts))
        declined = Declined(
            "--mem-fraction-static",
            "lowering it for all cards gives up memory on those that have it",
            facts.cite("trouble.unbalanced_memory", "gpu.foreign_processes", "gpu.names"),
        )
        return Advice(tuple(remedies), (declined,))


def _intruders(facts: Facts) -> list[str]:
    """Foreign processes that hold memory worth mentioning, or whose memory is not known."""
    return [_named(p) for p in every(facts, "gpu.foreign_processes")[0] if _memory_mib(p) >= WORTH_MENTIONING_MIB]


def _memory_mib(process: FactValue) -> float:
    used = process.get("used_memory_mib") if isinstance(process, dict) else None
    if isinstance(used, int | float):
        return float(used)
    return 0.0 if _HARMLESS.search(_named(process)) else WORTH_MENTIONING_MIB


def _named(process: FactValue) -> str:
    if not isinstance(process, dict):
        return str(process)
    words = [str(process[key]) for key in ("name", "pid") if process.get(key) is not None]
    return " ".join(words) or "a process"


def _with_memory(process: FactValue) -> str:
    used = process.get("used_memory_mib") if isinstance(process, dict) else None
    return f"{_named(process)} ({used:g} MiB)" if isinstance(used, int | float) else _named(process)


def _kinds(facts: Facts) -> int:
    return len({str(name) for name in by_gpu(facts, "gpu.names").values()})


def _sizes(facts: Facts) -> float:
    totals = numbers_by_gpu(facts, "gpu.memory_total_mib").values()
    smallest = min(totals, default=0.0)
    return max(totals) / smallest if smallest else 1.0


def _foreign(facts: Facts) -> Observation | None:
    intruders = _intruders(facts)
    if not intruders:
        return None
    says = f"foreign processes on the GPUs ({len(intruders)}): {', '.join(intruders[:3])}"
    return Observation(says, cite_all(facts, "gpu.foreign_processes"), 0.6, 0.006)


def _mixed(facts: Facts) -> Observation | None:
    if _kinds(facts) > 1:
        names = sorted({str(name) for name in by_gpu(facts, "gpu.names").values()})
        return Observation(f"cards of {len(names)} kinds: {', '.join(names)}", cite_all(facts, "gpu.names"), 0.5, 0.005)
    if _sizes(facts) > 1.1:
        says = f"the largest card has {_sizes(facts):.1f} times the memory of the smallest"
        return Observation(says, cite_all(facts, "gpu.memory_total_mib"), 0.5, 0.01)
    return None


def _unbalanced(facts: Facts) -> Observation | None:
    """Measured before weights are loaded (`model_runner.py`), so it speaks of other tenants; it stops short of proof,
    since ranks that start late or hold a context already differ too. Raised instead of warned of (older versions by
    default, later ones with SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK), it is the end of that start."""
    seen = trouble(facts, "unbalanced_memory")
    if seen is None:
        return None
    least = facts.number("trouble.unbalanced_memory.least_gib")
    local = facts.number("trouble.unbalanced_memory.local_gib")
    figures = f": {least:g} GiB free on one GPU, {local:g} GiB on another" if least and local else ""
    if trouble_words(facts, "unbalanced_memory", "raised"):
        return Observation(f"SGLang stopped at unequal free memory{figures}", seen.cites, 0.85, 0.01)
    return Observation(f"SGLang found unequal free memory at start{figures}", seen.cites, 0.5, 0.08)


def _clean(facts: Facts) -> Observation | None:
    processes = facts.get("gpu.foreign_processes")
    if processes is None or _intruders(facts) or _kinds(facts) != 1 or _sizes(facts) > 1.1:
        return None
    cites = cite_all(facts, "gpu.names", "gpu.foreign_processes")
    small = [_with_memory(process) for process in every(facts, "gpu.foreign_processes")[0]]
    beside = f": {', '.join(small[:3])}" if small else ""
    return Observation(f"cards of one kind, and nothing foreign of any size on them{beside}", cites, 0.02, 0.85)


def _free(facts: Facts) -> Remedy:
    return Remedy(
        "HW003",
        "operator",
        f"Move or end what does not belong to the server: {', '.join(_intruders(facts)[:3])}",
        Change(),
        cite_all(facts, "gpu.foreign_processes"),
        risks=("the process may be somebody's work: ask its owner",),
        verify="only the server's processes on the GPUs; after a restart a larger KV pool",
        rollback="start it again elsewhere",
    )


def _fewer_layers(facts: Facts) -> Remedy:
    ring = stages(facts)
    pipeline = ring is not None and ring.value > 1
    title = (
        "Give the weaker cards' stages fewer layers with SGLANG_PP_LAYER_PARTITION, in proportion to their speed"
        if pipeline
        else "Serve from cards of one kind, or give the weaker ones a server of their own"
    )
    return Remedy(
        "HW003",
        "operator",
        title,
        Change(),
        cite_all(facts, "gpu.names", "gpu.memory_total_mib"),
        risks=("the split must fit the memory of every card",),
        verify="per-stage busy time is even under load",
        rollback="the split as it is now",
    )


def _look(facts: Facts) -> Remedy:
    return Remedy(
        "HW003",
        "operator",
        "See what holds memory on the emptier cards before the next start (nvidia-smi), a server left over included",
        Change(),
        facts.cite("trouble.unbalanced_memory"),
        risks=(),
        verify="the warning is gone at the next start",
        rollback="none needed",
    )


CAUSE = GpusUnequal()
