"""IC001 TP collectives over PCIe dominate

What it is
    Tensor parallelism sums the parts of every layer over all ranks of a stage, twice a layer. Over PCIe each sum costs
    tens of microseconds, through host memory twice that, and a token needs more than a hundred of them.

Why it matters
    The GPUs wait inside the collective: nvidia-smi shows them busy while they draw a fraction of their power. More
    compute, a higher power cap or a larger batch limit does not change the time of one token.

Signals
    tp_size above 1, a topology without NVLink (PIX, PXB, PHB, NODE, SYS), utilisation near 100 % at a third of the
    power limit or less, all-reduces that by their number and cost fill a third of the step; worse where data goes
    through host memory (NCCL_P2P_DISABLE, shared-memory transport).

What refutes it
    tp_size 1: there is no all-reduce. NVLink between the GPUs. All-reduces that by their number and cost are a few
    per cent of the step. Cards that work at their power limit. Under a pipeline the same picture of high utilisation
    and low power is a stage that waits to receive, so it counts for little there.

Remedies
    Fewer ranks in a group: pipeline stages in place of tensor parallelism where enough requests are in flight, or
    groups of two. Peer-to-peer working between the cards. Another shape is a full reload and needs its own measurement.
"""

from ppagent.causes.cards import peak_share, spinning
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import all_reduce_share, nvlink, stage_nodes, through_host, world
from ppagent.causes.sighting import came_up, never_came_up
from ppagent.causes.situation import in_flight, stages, tensor_parallel
from ppagent.evidence.facts import Facts


class TpOverPcie:
    id = "IC001"
    name = "TP collectives over PCIe dominate"
    prior = 0.08
    wants = (
        "args.tp_size",
        "gpu.nvlink",
        "gpu.link_worst",
        "gpu.utilization",
        "gpu.power_w",
        "gpu.power_limit_w",
        "bench.levels",
        "model.num_hidden_layers",
        "trouble.nccl_shm_transport",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ranks = tensor_parallel(facts)
        if ranks is None:
            return ()
        if ranks.value < 2:
            return (Observation("tp_size is 1, so there is no all-reduce", ranks.cites, 0.001, 0.6),)
        if never_came_up(facts):
            return ()
        found = (_link(facts), _waiting(facts), _lopsided(facts), _share(facts), _host(facts), _full_power(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ranks = tensor_parallel(facts)
        if ranks is None:
            return (Probe("server.launch", "the size of the tensor-parallel group is not known", 0),)
        link = nvlink(facts)
        if ranks.value < 2 or (link is not None and link.yes):
            return ()
        asked = []
        if link is None:
            asked.append(Probe("gpu.topology", "whether NVLink joins the ranks is not known", 2))
        if spinning(facts) is None and peak_share(facts) is None:
            asked.append(Probe("gpu.samples", "utilisation against power under load shows whether ranks wait", 2))
        return tuple(asked)

    def advise(self, facts: Facts) -> Advice:
        total, ranks, host = world(facts), tensor_parallel(facts), through_host(facts)
        if total is None or ranks is None:
            return Advice()
        remedies = [_reshape(facts, total.value, ranks.value, total.cites)]
        if host is not None:
            remedies.append(_peer_to_peer(host.cites))
        declined = Declined(
            "power limit",
            "the cards wait in the collective and do not reach their limit",
            total.cites,
        )
        return Advice(tuple(remedies), (declined,))


def _link(facts: Facts) -> Observation | None:
    link, spread = nvlink(facts), stage_nodes(facts)
    if link is None:
        return None
    if link.yes:
        return Observation(link.says, link.cites, 0.02, 0.6)
    if spread is not None and spread.value > 1:
        return Observation(spread.says + ", so the network counts, not PCIe", spread.cites, 0.3, 0.5)
    ranks = tensor_parallel(facts)
    says = f"{link.says} for a group of {ranks.value:g} ranks" if ranks is not None else link.says
    return Observation(says, link.cites, 0.95, 0.2)


def _waiting(facts: Facts) -> Observation | None:
    """Eager decode leaves the same picture, and so does a pipeline stage that waits to receive."""
    idle, ring = spinning(facts), stages(facts)
    if idle is None:
        return None
    if ring is not None and ring.value > 1:
        return Observation(f"{idle.says}, which a waiting stage shows as well", idle.cites, 0.7, 0.4)
    share = facts.number("decode.graph_true_share")
    if share is not None and share < 0.1:
        cites = idle.cites + facts.cite("decode.graph_true_share")
        return Observation(f"{idle.says}, which decoding without graphs shows as well", cites, 0.7, 0.35)
    seen = came_up(facts)
    if seen is None or not seen.yes:
        says = f"{idle.says}, and nothing shows that it serves: a hang looks like this"
        return Observation(says, idle.cites, 0.6, 0.4)
    return Observation(f"{idle.says}: the kernels wait", idle.cites, 0.8, 0.1)


def _lopsided(facts: Facts) -> Observation | None:
    """Ranks of one group do equal work, so unequal utilisation is waiting."""
    ring, busy = stages(facts), facts.numbers("gpu.utilization")
    if ring is None or ring.value > 1 or len(busy) < 2 or facts.flag("gpu.under_load") is False:
        return None
    gap = max(busy.values()) - min(busy.values())
    if gap < 25:
        return None
    says = f"ranks of one group are busy {min(busy.values()):.0f} to {max(busy.values()):.0f} % of the time"
    return Observation(says, facts.cite("gpu.utilization"), 0.4, 0.1)


def _share(facts: Facts) -> Observation | None:
    share, link = all_reduce_share(facts), nvlink(facts)
    if share is None or (link is not None and link.yes):
        return None
    says = f"{share.says} ({share.value:.0%}, estimated)"
    if share.value >= 0.3:
        return Observation(says, share.cites, 0.8, 0.1)
    if share.value <= 0.05:
        return Observation(says, share.cites, 0.1, 0.5)
    return None


def _host(facts: Facts) -> Observation | None:
    host = through_host(facts)
    return None if host is None else Observation(host.says, host.cites, 0.6, 0.15)


def _full_power(facts: Facts) -> Observation | None:
    peak = peak_share(facts)
    if peak is None or peak.value < 0.9:
        return None
    return Observation(f"{peak.says}, so it works", peak.cites, 0.15, 0.5)


def _reshape(facts: Facts, gpus: float, ranks: float, cites: tuple[str, ...]) -> Remedy:
    """A pipeline where its stages can be filled, else groups of two."""
    load = in_flight(facts)
    layers = facts.number("model.num_hidden_layers")
    deep = load is not None and load.value >= gpus and (layers is None or layers >= gpus)
    group = 1 if deep or ranks <= 2 else 2
    depth = int(gpus // group)
    return Remedy(
        "IC001",
        "relaunch",
        f"Serve as {depth} stages of {group} rank{'s' if group > 1 else ''} instead of groups of {ranks:g}",
        Change(set={"--tp-size": str(group), "--pp-size": str(depth)}),
        cites + (load.cites if load is not None else ()),
        risks=(
            f"with fewer than {depth} requests in flight some stages idle, and one user's speed may fall",
            "a full reload of the model",
        ),
        verify="tok/s at the working concurrency, and power per GPU above its value now",
        rollback="the command that runs now",
        alone=True,
    )


def _peer_to_peer(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC001",
        "operator",
        "Get peer-to-peer between the cards to work (driver, ACS and IOMMU settings) and drop NCCL_P2P_DISABLE after a "
        "two-rank all-reduce test",
        Change(),
        cites,
        risks=("where peer-to-peer is broken the first collective hangs: test it outside the server",),
        verify="NCCL's log names P2P instead of SHM, and the time of one token falls",
        rollback="NCCL_P2P_DISABLE=1",
    )


CAUSE = TpOverPcie()
