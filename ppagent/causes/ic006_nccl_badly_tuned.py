"""IC006 NCCL badly tuned for this host

What it is
    NCCL chooses protocol, channels and paths from a model of the machine. Where the model is wrong (it takes every AMD
    processor for a slow one), or the environment overrides it badly, collectives run far below the hardware.

Why it matters
    Small all-reduces at 48 instead of 26 microseconds and prefill several times slower were measured on one such host.

Signals
    Environment variables that narrow NCCL down (one or two channels, a forced protocol or algorithm, peer-to-peer
    switched off where the cards share a switch); shared-memory transport between cards behind one switch; an AMD host
    with a tensor-parallel group over PCIe and no tuning at all.

What refutes it
    No tensor-parallel group: sends between stages hardly depend on tuning. NVLink with an untouched environment.

Remedies
    Remove what narrows it; NCCL_PROTO=LL with NCCL_P2P_LEVEL=SYS for low concurrency, more channels for large messages,
    or a topology file. The best choice depends on the load, so measure each at the working concurrency.
"""

from ppagent.causes.cards import card
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import nvlink, stage_nodes
from ppagent.causes.sighting import env, switched_on, trouble, trouble_words
from ppagent.causes.situation import tensor_parallel
from ppagent.evidence.digits import whole_number
from ppagent.evidence.facts import Facts

_TUNING = (
    "NCCL_GRAPH_FILE",
    "NCCL_TOPO_FILE",
    "NCCL_TUNER_PLUGIN",
    "NCCL_PROTO",
    "NCCL_MIN_NCHANNELS",
    "NCCL_P2P_LEVEL",
)
_NEAR = ("PIX", "PXB")
FEW_CHANNELS = 2


class NcclBadlyTuned:
    id = "IC006"
    name = "NCCL badly tuned for this host"
    prior = 0.04
    wants = (
        "args.tp_size",
        "gpu.nvlink",
        "gpu.link_worst",
        "host.cpu_model",
        "env.NCCL_PROTO",
        "env.NCCL_MAX_NCHANNELS",
        "trouble.nccl_shm_transport",
        "trouble.nccl_assumed_bandwidth",
        "trouble.nccl_channels",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ranks, spread, link = tensor_parallel(facts), stage_nodes(facts), nvlink(facts)
        if ranks is None:
            return ()
        if ranks.value < 2:
            says = "tp_size is 1: only sends between stages are left, which hardly depend on tuning"
            return (Observation(says, ranks.cites, 0.02, 0.6),)
        narrowed = _narrowed(facts)
        if narrowed:
            return (*narrowed, *_debug_lines(facts))
        if link is not None and link.yes and (spread is None or spread.value <= 1):
            says = f"{link.says}, and nothing narrows NCCL down"
            return (Observation(says, link.cites, 0.04, 0.7), *_debug_lines(facts))
        return (*_slow_model(facts), *_assumed(facts), *_debug_lines(facts))

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ranks, link = tensor_parallel(facts), nvlink(facts)
        if ranks is not None and ranks.value < 2:
            return ()
        if ranks is not None and link is not None and link.yes:
            return ()
        return (
            Probe("server.launch", "NCCL's environment variables show what it is forced to", 0),
            Probe("logs.trouble", "NCCL_DEBUG=INFO shows channels, protocol and the bandwidth it assumes", 0),
        )

    def advise(self, facts: Facts) -> Advice:
        cites = tuple(c for o in self.observe(facts) if o.supports for c in o.cites)
        low = Remedy(
            self.id,
            "relaunch",
            "Small messages with the low-latency protocol, peer-to-peer across the whole host",
            Change(env={"NCCL_PROTO": "LL", "NCCL_P2P_LEVEL": "SYS"}),
            cites,
            risks=("large messages get slower; at high concurrency on two sockets host memory can be the better way",),
            verify="time per token at one and at the working concurrency, time to first token with long prompts",
            rollback="the environment as it is now",
            alone=True,
        )
        wide = Remedy(
            self.id,
            "relaunch",
            "More channels for large messages",
            Change(env={"NCCL_MIN_NCHANNELS": "8"}),
            cites,
            risks=("a little more GPU memory per communicator",),
            verify="time to first token with long prompts",
            rollback="the environment as it is now",
            alone=True,
        )
        both = Declined("all NCCL variables at once", "each helps one size of message and costs another", cites)
        return Advice((low, wide), (both,))


def _narrowed(facts: Facts) -> tuple[Observation, ...]:
    """What the environment forces NCCL to, where that is seldom right."""
    forced = []
    for name in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NRINGS"):
        value = env(facts, name)
        channels = whole_number(value or "")
        if channels is not None and channels <= FEW_CHANNELS:
            forced.append((name, f"{name}={value} leaves NCCL hardly any channels", 0.4, 0.004))
    if (env(facts, "NCCL_PROTO") or "").lower() == "simple":
        forced.append(("NCCL_PROTO", "NCCL_PROTO=Simple is the slow protocol for small messages", 0.3, 0.006))
    if env(facts, "NCCL_ALGO"):
        forced.append(("NCCL_ALGO", f"NCCL_ALGO={env(facts, 'NCCL_ALGO')} is forced", 0.2, 0.02))
    worst = facts.text("gpu.link_worst")
    if switched_on(facts, "NCCL_P2P_DISABLE") and worst in _NEAR:
        says = f"peer-to-peer is switched off although the cards share a PCIe switch ({worst})"
        forced.append(("NCCL_P2P_DISABLE", says, 0.4, 0.04))
    return tuple(Observation(says, facts.cite(f"env.{name}"), yes, no) for name, says, yes, no in forced)


def _slow_model(facts: Facts) -> tuple[Observation, ...]:
    """NCCL takes AMD hosts for 16 GB/s (2.28), an order of magnitude below a current one."""
    cpu, link = facts.text("host.cpu_model"), nvlink(facts)
    tuned = facts.cite(*(f"env.{name}" for name in _TUNING))
    if tuned:
        return (Observation("NCCL was tuned for this host by its environment", tuned, 0.15, 0.4),)
    if cpu is None or link is None or link.yes or not any(word in cpu for word in ("AMD", "EPYC")):
        return ()
    says = f"{cpu}, {link.says}, and NCCL's slow model of AMD hosts is not corrected"
    return (Observation(says, facts.cite("host.cpu_model") + link.cites, 0.6, 0.15),)


def _assumed(facts: Facts) -> tuple[Observation, ...]:
    """What NCCL itself says it takes this host for, against what the card's slot can carry."""
    found = []
    told = trouble_words(facts, "nccl_assumed_bandwidth", "gb_per_s")
    slot = card(facts)
    if told and slot is not None and float(told) < 0.4 * slot[0].pcie_gb_per_s:
        says = f"NCCL takes the best link for {told} GB/s, the slot carries {slot[0].pcie_gb_per_s:g} GB/s"
        found.append(Observation(says, facts.cite("trouble.nccl_assumed_bandwidth"), 0.9, 0.02))
    channels = trouble_words(facts, "nccl_channels", "channels")
    if channels and int(channels) <= FEW_CHANNELS:
        says = f"NCCL uses {channels} channels"
        found.append(Observation(says, facts.cite("trouble.nccl_channels"), 0.6, 0.15))
    return tuple(found)


def _debug_lines(facts: Facts) -> tuple[Observation, ...]:
    """Shared memory between cards that could reach each other directly."""
    shared = trouble(facts, "nccl_shm_transport")
    if shared is None or facts.text("gpu.link_worst") not in _NEAR:
        return ()
    says = "NCCL goes through shared memory between cards behind one PCIe switch"
    return (Observation(says, shared.cites + facts.cite("gpu.link_worst"), 0.5, 0.08),)


CAUSE = NcclBadlyTuned()
