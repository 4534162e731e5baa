"""How the GPUs of one stage are linked, and what an all-reduce over that link costs.

Per-operation times are rounded from public measurements on eight cards over PCIe 5 (24 us for a small all-reduce
with NCCL, about twice that where the data goes through host memory); a server's own trace overrules them.
"""

from ppagent.causes.cards import nvlink_by_name
from ppagent.causes.sighting import Sighting, switched_on, trouble, trouble_words
from ppagent.causes.situation import (
    Known,
    arguments_known,
    given_unread,
    levels,
    running_per_slot,
    stages,
    tensor_parallel,
)
from ppagent.evidence.facts import Facts

P2P_LATENCY_US = 24.0
HOST_LATENCY_US = 50.0
P2P_BANDWIDTH_GB_PER_S = 25.0
HOST_BANDWIDTH_GB_PER_S = 10.0
"""Bus bandwidth of a ring all-reduce over PCIe with NCCL's defaults."""

ALL_REDUCES_PER_LAYER = 2
BYTES_PER_VALUE = 2


def nodes(facts: Facts) -> Known | None:
    """Hosts of the deployment (nnodes, 1 by default)."""
    fact = facts.arg("nnodes")
    if fact is not None and fact.number:
        return Known(fact.number, (fact.evidence,), f"nnodes {fact.number:g}")
    ranks = tensor_parallel(facts)
    if ranks is None or not arguments_known(facts) or given_unread(facts, "nnodes"):
        return None
    return Known(1, ranks.cites, "one node (default)")


def stage_nodes(facts: Facts) -> Known | None:
    """Nodes over which the tensor-parallel group of one stage is spread: nnodes / pp_size where there are more nodes
    than stages, else 1 (rank layout of `srt/entrypoints/engine.py`)."""
    hosts, ring = nodes(facts), stages(facts)
    if hosts is None or ring is None or ring.value < 1:
        return None
    spread = max(1.0, hosts.value / ring.value)
    says = f"{hosts.value:g} nodes for {ring.value:g} stages: a stage's tensor-parallel group lies on {spread:g}"
    return Known(spread, tuple(dict.fromkeys(hosts.cites + ring.cites)), says)


def world(facts: Facts) -> Known | None:
    """GPUs of one replica: tp_size x pp_size."""
    ranks, ring = tensor_parallel(facts), stages(facts)
    if ranks is None or ring is None:
        return None
    cites = tuple(dict.fromkeys(ranks.cites + ring.cites))
    return Known(ranks.value * ring.value, cites, f"tp_size {ranks.value:g} x pp_size {ring.value:g}")


def nvlink(facts: Facts) -> Sighting | None:
    """Whether NVLink joins the GPUs: the topology, else what SGLang said when it refused its kernel, else the cards."""
    shown, worst = facts.flag("gpu.nvlink"), facts.text("gpu.link_worst")
    if shown is not None or worst is not None:
        return _by_topology(facts, shown, worst)
    if "pcie-only" in trouble_words(facts, "custom_allreduce_disabled", "reason").lower():
        cites = facts.cite("trouble.custom_allreduce_disabled.reason")
        return Sighting(False, cites, "SGLang itself found PCIe-only GPUs")
    return nvlink_by_name(facts)


def _by_topology(facts: Facts, shown: bool | None, worst: str | None) -> Sighting:
    """NVLink counts where the farthest pair has it too: bridges between pairs leave a group of four on PCIe."""
    cites = facts.cite("gpu.nvlink", "gpu.link_worst")
    if worst is None:
        return Sighting(shown is True, cites, f"the topology shows {'NVLink' if shown else 'no NVLink'}")
    if worst.startswith("NV"):
        return Sighting(True, cites, f"the topology shows NVLink ({worst}) between all cards")
    some = "NVLink between some pairs only" if shown else "no NVLink"
    return Sighting(False, cites, f"the topology shows {some}, farthest link {worst}")


def through_host(facts: Facts) -> Sighting | None:
    """Known where data between GPUs of a node goes through host memory, since peer-to-peer is off or not there."""
    if switched_on(facts, "NCCL_P2P_DISABLE"):
        return Sighting(True, facts.cite("env.NCCL_P2P_DISABLE"), "NCCL_P2P_DISABLE=1 sends data through host memory")
    seen = trouble(facts, "nccl_shm_transport")
    if seen is not None:
        return Sighting(True, seen.cites, "NCCL chose the shared-memory transport")
    seen = trouble(facts, "p2p_disabled", "peer_access_failed")
    if seen is not None:
        return Sighting(True, seen.cites, f"the log reports {seen.says}")
    if "p2p" in trouble_words(facts, "custom_allreduce_disabled", "reason").lower():
        cites = facts.cite("trouble.custom_allreduce_disabled.reason")
        return Sighting(True, cites, "SGLang's own test found no working peer-to-peer")
    return None


def all_reduce_us(ranks: float, message_bytes: float, host: bool) -> float:
    """Time of one ring all-reduce over PCIe in microseconds: latency and 2 (n-1)/n of the message."""
    latency_us = HOST_LATENCY_US if host else P2P_LATENCY_US
    bandwidth = HOST_BANDWIDTH_GB_PER_S if host else P2P_BANDWIDTH_GB_PER_S
    return latency_us + 2 * (ranks - 1) / ranks * message_bytes / (bandwidth * 1000)


def all_reduce_share(facts: Facts) -> Known | None:
    """Estimated share of a decode step spent in all-reduces over PCIe, at the lowest measured load level.

    None without a tensor-parallel group, a measured level or the model's shape.
    """
    ranks, measured = tensor_parallel(facts), levels(facts)
    layers = facts.number("model.num_hidden_layers")
    hidden = facts.number("model.hidden_size")
    if ranks is None or ranks.value < 2 or not measured or not layers or not hidden:
        return None
    level, host = measured[0], through_host(facts)
    slot = running_per_slot(facts)
    batch = min(level.concurrency, slot.value) if slot is not None and slot.value else level.concurrency
    one_us = all_reduce_us(ranks.value, batch * hidden * BYTES_PER_VALUE, host is not None)
    total_ms = ALL_REDUCES_PER_LAYER * layers * one_us / 1000
    cites = level.cites + facts.cite("model.num_hidden_layers") + ranks.cites + (host.cites if host else ())
    says = (
        f"{ALL_REDUCES_PER_LAYER * layers:.0f} all-reduces a token over PCIe take about {total_ms:.1f} ms "
        f"of a step of {level.turn_ms:.1f} ms"
    )
    return Known(total_ms / level.turn_ms, tuple(dict.fromkeys(cites)), says)
