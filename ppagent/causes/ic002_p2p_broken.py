"""IC002 P2P broken

What it is
    GPUs of one machine are told that they can write to each other's memory, and cannot: access control on the PCIe
    bridges (ACS) or address translation (IOMMU) sends the traffic elsewhere, or the driver's claim is false.

Why it matters
    The first collective never ends. The driver and `nvidia-smi topo -p2p` go on saying OK, so it looks like a slow
    load.

Signals
    NCCL says that it is initialised, then silence: no weights, no ready line; 100 % utilisation at idle power;
    translated IOMMU or ACS redirection in the kernel's words; `peer access is not supported`.

What refutes it
    One GPU, so there are no peers. A server that came up without its peer-to-peer switched off. A start that got past
    its first collective (weights were loaded).

Remedies
    ACS off on the bridges above the cards, or the IOMMU off or in passthrough. As a way round, NCCL's peer-to-peer and
    SGLang's own all-reduce switched off together: one alone leaves the other to hang at two ranks.
"""

import re

from ppagent.causes.cards import power_share, utilization
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import world
from ppagent.causes.sighting import (
    FLAG_KINDS,
    MEMORY_KINDS,
    Sighting,
    came_up,
    ended_by,
    is_up,
    switched_on,
    trouble,
    trouble_words,
)
from ppagent.causes.situation import tensor_parallel
from ppagent.evidence.facts import Facts

_REDIRECTS = re.compile(r"(?:req|cmplt)redir\+", re.IGNORECASE)
_TRANSLATES = re.compile(r"translated|iommu=on|iommu enabled", re.IGNORECASE)
_PASSES = re.compile(r"iommu=(?:off|pt)|passthrough|iommu disabled", re.IGNORECASE)


class P2pBroken:
    id = "IC002"
    name = "P2P broken"
    prior = 0.04
    wants = (
        "args.tp_size",
        "start.ready",
        "start.weights_gib",
        "trouble.nccl_init_complete",
        "trouble.peer_access_failed",
        "trouble.nccl_timeout",
        "gpu.utilization",
        "gpu.power_w",
        "host.iommu",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        gpus = world(facts)
        if gpus is not None and gpus.value < 2:
            return (Observation("one GPU only, so there are no peers", gpus.cites, 0.001, 0.5),)
        up = is_up(facts)
        if up is not None and trouble(facts, "peer_access_failed") is None:
            return _running(facts, up)
        found = (_refused(facts), _silence(facts), _spinning_at_start(facts), _iommu(facts), _both_off(facts))
        others = ended_by(facts, "pp_flag_conflict", "pp_model_unsupported", *MEMORY_KINDS, *FLAG_KINDS)
        return (*(o for o in found if o is not None), *others)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        up, gpus = came_up(facts), world(facts)
        if (gpus is not None and gpus.value < 2) or trouble(facts, "peer_access_failed") is not None:
            return ()
        smoke_test = Probe("host.all_reduce", "a two-rank all-reduce outside the server is the proof", 4)
        if up is not None and up.yes:
            return (smoke_test,) if switched_on(facts, "NCCL_P2P_DISABLE") else ()
        asked = []
        if up is None:
            asked.append(Probe("logs.startup", "whether the server got past its first collective is not known", 0))
        if facts.get("host.iommu") is None:
            asked.append(Probe("host.kernel", "IOMMU and ACS settings decide whether peers can write to each other", 2))
        if utilization(facts) is None:
            asked.append(Probe("gpu.samples", "a hung collective shows as full utilisation at idle power", 2))
        return (*asked, smoke_test)

    def advise(self, facts: Facts) -> Advice:
        cites = _reasons(facts)
        return Advice(
            (_repair(cites), _way_round(cites)),
            (
                Declined("--watchdog-timeout", "a collective that hangs does not end later", cites),
                Declined("nvidia-smi topo -p2p", "the driver's OK is a claim, a two-rank all-reduce is a test", cites),
            ),
        )


def _reasons(facts: Facts) -> tuple[str, ...]:
    return facts.cite("trouble.peer_access_failed", "trouble.nccl_init_complete", "start.ready", "host.iommu")


def _running(facts: Facts, up: Sighting) -> tuple[Observation, ...]:
    """A server that runs with peer-to-peer switched off may run that way because it is broken: that says nothing."""
    if switched_on(facts, "NCCL_P2P_DISABLE"):
        return ()
    return (Observation(f"{up.says}, so its first collective ended", up.cites, 0.03, 0.8),)


def _refused(facts: Facts) -> Observation | None:
    seen = trouble(facts, "peer_access_failed")
    if seen is None or "already enabled" in trouble_words(facts, "peer_access_failed", "reason"):
        return None
    return Observation("the start died because a GPU may not access its peer", seen.cites, 0.6, 0.002)


def _past_collectives(facts: Facts) -> bool:
    """Weights load after the process groups have done their first all-reduce."""
    return bool(facts.numbers("start.weights_gib")) or facts.flag("start.graph_begun") is True


def _custom_kernel_left_on(facts: Facts) -> bool:
    """SGLang's own all-reduce takes two PCIe cards whatever NCCL_P2P_DISABLE says (`custom_all_reduce_utils.py`)."""
    ranks = tensor_parallel(facts)
    pair = ranks is not None and ranks.value == 2
    return pair and switched_on(facts, "NCCL_P2P_DISABLE") and not facts.arg_flag("disable_custom_all_reduce")


def _silence(facts: Facts) -> Observation | None:
    up = came_up(facts)
    if up is None:
        return None
    if _past_collectives(facts):
        cites = facts.cite("start.weights_gib", "start.graph_begun")
        if _custom_kernel_left_on(facts):
            says = "NCCL's peer-to-peer is off and two ranks hang later, where SGLang's own all-reduce still uses it"
            return Observation(says, facts.cite("env.NCCL_P2P_DISABLE") + up.cites, 0.5, 0.03)
        return Observation("the start got past its first collective: weights were loaded", cites, 0.1, 0.6)
    begun, waited = trouble(facts, "nccl_init_complete"), trouble(facts, "nccl_timeout", "watchdog_timeout")
    if begun is not None:
        says = "NCCL was initialised, then nothing: no weights and no ready line"
        return Observation(says, begun.cites + up.cites, 0.8, 0.03)
    if waited is not None:
        return Observation(f"{waited.says} before any weights were loaded", waited.cites + up.cites, 0.6, 0.08)
    return None


def _spinning_at_start(facts: Facts) -> Observation | None:
    up, busy, power = came_up(facts), utilization(facts), power_share(facts)
    if up is None or busy is None or power is None or _past_collectives(facts):
        return None
    if busy.value < 90 or power.value > 0.35:
        return None
    says = f"{busy.says} at {power.says}, before the server is up"
    return Observation(says, busy.cites + power.cites, 0.8, 0.1)


def _iommu(facts: Facts) -> Observation | None:
    fact = facts.get("host.iommu")
    if fact is None:
        return None
    words = str(fact.value)
    if _REDIRECTS.search(words):
        return Observation("ACS redirects peer traffic on a bridge", (fact.evidence,), 0.6, 0.15)
    if _TRANSLATES.search(words) and not _PASSES.search(words):
        return Observation("the IOMMU translates device addresses", (fact.evidence,), 0.7, 0.3)
    return None


def _both_off(facts: Facts) -> Observation | None:
    if not switched_on(facts, "NCCL_P2P_DISABLE") or not facts.arg_flag("disable_custom_all_reduce"):
        return None
    cites = facts.cite("env.NCCL_P2P_DISABLE") + facts.cite_args("disable_custom_all_reduce")
    return Observation("peer-to-peer is not used at all: both ways to it are switched off", cites, 0.05, 0.3)


def _repair(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC002",
        "operator",
        "Switch ACS off on the PCIe bridges above the GPUs, or the IOMMU off (or iommu=pt), then test two ranks",
        Change(),
        cites,
        risks=("the IOMMU also isolates virtual machines: not on a host that passes devices through",),
        verify="a two-rank NCCL all-reduce ends within seconds",
        rollback="the previous BIOS and kernel settings",
    )


def _way_round(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC002",
        "relaunch",
        "Go round peer-to-peer: NCCL through host memory and no custom all-reduce",
        Change(set={"--disable-custom-all-reduce": "true"}, env={"NCCL_P2P_DISABLE": "1"}),
        cites,
        risks=("collectives through host memory are slower, with tensor parallelism by a lot",),
        verify="the server reports itself ready and answers",
        rollback="the command that hangs now, once peer-to-peer works",
    )


CAUSE = P2pBroken()
