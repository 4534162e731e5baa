"""The nodes of one deployment: how many there are, which host is which, and which pipeline stages each holds."""

from dataclasses import dataclass

from ppagent.causes.links import nodes
from ppagent.causes.situation import MOST_RANKS, stages
from ppagent.evidence.facts import Facts


@dataclass(frozen=True)
class Node:
    """One node. `host` is empty where nothing that was read is of it."""

    rank: int
    stages: tuple[int, ...]
    host: str = ""

    @property
    def holds(self) -> str:
        """Its stages in words."""
        if not self.stages:
            return ""
        first, last = self.stages[0], self.stages[-1]
        return f"stage {first}" if first == last else f"stages {first}-{last}"


def deployment(facts: Facts) -> tuple[Node, ...]:
    """Every node of a deployment of several, by rank; empty for a server on one host, and where that is not known."""
    count, ring = nodes(facts), stages(facts)
    if count is None or not 1 < count.value <= MOST_RANKS or unread_ranks(facts):
        return ()
    hosts = {rank: host for host, rank in reversed(ranks_of_hosts(facts).items())}
    depth = int(ring.value) if ring is not None else 0
    return tuple(
        Node(rank, stages_of(rank, int(count.value), depth), hosts.get(rank, "")) for rank in range(int(count.value))
    )


def ranks_of_hosts(facts: Facts) -> dict[str, int]:
    """Node rank by host, in the order in which the hosts were read: as its launch has it, else as the server itself
    says. A launch that names none is of node 0; of one that names it in a variable it is not known."""
    ranks: dict[str, int] = {}
    untold = unread_ranks(facts)
    for name in ("launch.node_rank", "args.node_rank"):
        for fact in facts.all(name):
            if fact.host and fact.number is not None:
                ranks.setdefault(fact.host, int(fact.number))
    for fact in facts.all("launch.command"):
        if fact.host and fact.host not in untold:
            ranks.setdefault(fact.host, 0)
    return ranks


def unread_ranks(facts: Facts) -> frozenset[str]:
    """Hosts whose launch names its node in a way that cannot be read (`--node-rank $RANK`), unless the server does."""
    told = {fact.host for fact in facts.all("args.node_rank") if fact.number is not None}
    return frozenset(fact.host for fact in facts.all("launch.node_rank") if fact.number is None) - told


def stages_of(rank: int, count: int, depth: int) -> tuple[int, ...]:
    """Pipeline stages of one of `count` nodes where there are `depth` stages: whole stages a node, or, with more nodes
    than stages, a part of one (0.5.10 and 0.5.23, `_calculate_rank_ranges` of `srt/entrypoints/engine.py`)."""
    if depth < 1:
        return ()
    each, nodes_a_stage = max(depth // count, 1), max(count // depth, 1)
    first = each * (rank // nodes_a_stage)
    return tuple(stage for stage in range(first, first + each) if stage < depth)
