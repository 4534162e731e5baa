"""IC005 TP across nodes on a slow network

What it is
    The tensor-parallel group of a stage lies on more than one node, so two all-reduces a layer cross the network, and
    the network is Ethernet through sockets rather than RDMA.

Why it matters
    A socket all-reduce takes hundreds of microseconds, and a token needs more than a hundred of them. Between pipeline
    stages one message a stage crosses, which a slow network bears.

Signals
    nnodes above pp_size with tp_size above 1; NCCL's `NET/Socket`; NCCL_IB_DISABLE=1.

What refutes it
    One node. At least as many stages as nodes: then each group lies inside a node and only hidden states cross. NCCL
    over RDMA (`NET/IB`).

Remedies
    Stages across nodes and tensor parallelism inside each; or RDMA for NCCL (adapters, drivers, NCCL_IB_HCA).
"""

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.links import nodes, stage_nodes, world
from ppagent.causes.sighting import env, switched_on, trouble
from ppagent.causes.situation import tensor_parallel
from ppagent.evidence.facts import Facts


class TpAcrossNodes:
    id = "IC005"
    name = "TP across nodes on a slow network"
    prior = 0.04
    wants = ("args.nnodes", "args.tp_size", "args.pp_size", "trouble.nccl_socket_transport", "env.NCCL_IB_DISABLE")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        hosts, spread, ranks = nodes(facts), stage_nodes(facts), tensor_parallel(facts)
        if hosts is None or spread is None or ranks is None:
            return ()
        if hosts.value < 2:
            return (Observation(hosts.says + ", so no collective leaves it", hosts.cites, 0.001, 0.6),)
        if ranks.value < 2:
            return (Observation("tp_size is 1, so there is no all-reduce", ranks.cites, 0.001, 0.5),)
        if spread.value <= 1:
            return (Observation(spread.says, spread.cites, 0.02, 0.6),)
        crossing = Observation(f"{spread.says} with tp_size {ranks.value:g}", spread.cites + ranks.cites, 0.95, 0.15)
        return (crossing, *_transport(facts))

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        hosts, spread = nodes(facts), stage_nodes(facts)
        if hosts is None or spread is None:
            return (Probe("server.launch", "the number of nodes and stages is not known", 0),)
        if spread.value <= 1 or _transport(facts):
            return ()
        return (Probe("logs.trouble", "NCCL_DEBUG=INFO in the log of each node tells sockets from RDMA", 0),)

    def advise(self, facts: Facts) -> Advice:
        spread, total, hosts = stage_nodes(facts), world(facts), nodes(facts)
        if spread is None or total is None or hosts is None:
            return Advice()
        inside = int(total.value // hosts.value)
        reshape = Remedy(
            self.id,
            "relaunch",
            f"One stage a node: {hosts.value:g} stages of {inside} ranks, so that only hidden states cross the network",
            Change(set={"--tp-size": str(inside), "--pp-size": f"{hosts.value:g}"}),
            spread.cites,
            risks=(
                f"with fewer than {hosts.value:g} requests in flight some nodes idle",
                "a full reload on every node",
            ),
            verify="tok/s at the working concurrency on the same load",
            rollback="the command that runs now",
            alone=True,
        )
        return Advice((reshape, _rdma(spread.cites + facts.cite("trouble.nccl_socket_transport"))))


def _transport(facts: Facts) -> tuple[Observation, ...]:
    sockets = trouble(facts, "nccl_socket_transport")
    if sockets is not None:
        return (Observation("NCCL moves data through sockets (NET/Socket)", sockets.cites, 0.9, 0.05),)
    if switched_on(facts, "NCCL_IB_DISABLE"):
        return (Observation("NCCL_IB_DISABLE is set", facts.cite("env.NCCL_IB_DISABLE"), 0.7, 0.05),)
    if (rdma := trouble(facts, "nccl_ib_transport")) is not None:
        return (Observation("NCCL moves data over RDMA (NET/IB)", rdma.cites, 0.04, 0.6),)
    if env(facts, "NCCL_IB_HCA"):
        return (Observation("RDMA adapters are named for NCCL", facts.cite("env.NCCL_IB_HCA"), 0.15, 0.5),)
    return ()


def _rdma(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC005",
        "operator",
        "Give NCCL an RDMA network: adapters and drivers on every node, named in NCCL_IB_HCA, NCCL_IB_DISABLE unset",
        Change(),
        cites,
        risks=("a wrong adapter name makes NCCL fall back to sockets silently",),
        verify="NCCL_DEBUG=INFO names NET/IB on every node",
        rollback="without the variables",
    )


CAUSE = TpAcrossNodes()
