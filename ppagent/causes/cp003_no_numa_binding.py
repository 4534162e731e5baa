"""CP003 no NUMA binding

What it is
    The host has several memory nodes and the scheduler processes are not tied to the one their card hangs on, so that
    launches and copies cross the socket link, at the kernel's whim.

Why it matters
    A step takes longer now on this rank, now on that one, and all ranks wait for the slowest. It reads like noise.

Signals
    Several NUMA nodes, no binding by flag, environment or affinity, and step times that jitter or a straggler that
    changes.

What refutes it
    One NUMA node, or ranks that are bound. Several nodes without binding alone are no proof: many servers run so and
    lose little.

Remedies
    Bind each rank to the node of its card.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.said import said
from ppagent.causes.sighting import env, switched_on, trouble, trouble_words, version
from ppagent.causes.situation import Known, stages, tensor_parallel
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

_SWITCH = "SGLANG_AUTO_NUMA_BIND"

BINDS_BY_ITSELF_FROM = "0.5.18"
"""SGLANG_AUTO_NUMA_BIND is on from here; off in 0.5.10 to 0.5.16, absent before (srt/environ.py)."""
CAN_BIND_FROM = "0.5.10"

_JITTER = (
    r"\bjitter|\bstraggl|\bstep times? (?:vary|varies|jump)|\brotat\w+ (?:rank|stage)|\bwander"
    r"|\bdifferent (?:rank|stage|gpu|card)s?\b[^.]{0,30}\b(?:each time|slow)"
    r"|\bslow(?:est)? (?:one|rank|stage|gpu|card) (?:changes|moves|is another)"
)
_TRIED = r"\b(?:numactl|numa|taskset|one socket|pinn\w+)\b[^.]{0,80}\b(?:faster|better|helps?|helped|improv\w*)"


class NoNumaBinding:
    id = "CP003"
    name = "no NUMA binding"
    prior = 0.03
    wants = ("host.numa_nodes", "args.numa_node", "env.SGLANG_AUTO_NUMA_BIND", "host.cpu_affinity", "stated.sentences")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        nodes = facts.number("host.numa_nodes")
        if nodes is not None and nodes < 2:
            says = "the host has one NUMA node"
            return (Observation(says, facts.cite("host.numa_nodes"), 0.005, 0.5),)
        found = (_bound(facts), _unbound(facts), _jitter(facts), _tried(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        nodes = facts.number("host.numa_nodes")
        if nodes is None:
            return (Probe("host.facts", "how many NUMA nodes the host has is not known", 2),)
        if nodes < 2 or binding(facts) is not None or said(facts, _JITTER) is not None:
            return ()
        return (Probe("host.environment", "whether the ranks run on the node of their card is not known", 2),)

    def advise(self, facts: Facts) -> Advice:
        cites = tuple(dict.fromkeys(facts.cite("host.numa_nodes") + facts.cite("stated.sentences")))
        flag = _by_flag(self.id, facts, cites)
        remedies = (flag, _by_itself(self.id, cites)) if at_least(version(facts), CAN_BIND_FROM) else (flag,)
        why = "a straggler by placement moves with the kernel's choice, not with the batch"
        return Advice(remedies, (Declined("--pp-max-micro-batch-size", why, cites),))


def binding(facts: Facts) -> Known | None:
    """Known where ranks are bound to NUMA nodes, by flag, environment or the launch command."""
    if facts.arg("numa_node") is not None:
        return Known(1, facts.cite_args("numa_node"), "numa_node binds the ranks")
    command = facts.text("launch.command") or ""
    if "numactl" in command or "taskset" in command:
        return Known(1, facts.cite("launch.command"), "the launch command binds the server to cores")
    logged = trouble(facts, "numa_bind")
    if logged is not None and trouble_words(facts, "numa_bind", "node"):
        return Known(1, logged.cites, "the log says that ranks were bound to NUMA nodes")
    if trouble(facts, "numa_bind_failed") is not None:
        return None
    if env(facts, _SWITCH) is not None:
        cites = facts.cite(f"env.{_SWITCH}")
        return Known(1, cites, f"{_SWITCH} is on") if switched_on(facts, _SWITCH) else None
    if at_least(version(facts), BINDS_BY_ITSELF_FROM):
        return Known(1, facts.cite("engine.version"), "this version binds each rank to its card's node by itself")
    return None


def _by_flag(cause: str, facts: Facts, cites: tuple[str, ...]) -> Remedy:
    nodes = int(facts.number("host.numa_nodes") or 2)
    ring, ways = stages(facts), tensor_parallel(facts)
    ranks = int((ring.value if ring is not None else 1) * (ways.value if ways is not None else 1))
    listed = " ".join(str(rank * nodes // max(ranks, 1)) for rank in range(ranks))
    return Remedy(
        cause,
        "relaunch",
        "Bind each rank to a NUMA node, cards in order over the nodes",
        Change(set={"--numa-node": listed}),
        cites,
        risks=("the list must follow the cards: check it against `nvidia-smi topo -m` before the relaunch",),
        verify="step times of the ranks are alike and the slowest rank no longer changes",
        rollback="leave --numa-node out",
    )


def _by_itself(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "relaunch",
        "Let the server find the node of each card and bind to it",
        Change(env={_SWITCH: "1"}),
        cites,
        risks=("memory of one node must hold what its ranks keep on the host",),
        verify="the start-up log names the node of each rank, and step times are alike",
        rollback="SGLANG_AUTO_NUMA_BIND=0",
        alone=True,
    )


def _bound(facts: Facts) -> Observation | None:
    known = binding(facts)
    return None if known is None else Observation(known.says, known.cites, 0.05, 0.5)


def _unbound(facts: Facts) -> Observation | None:
    nodes = facts.number("host.numa_nodes")
    if nodes is None or binding(facts) is not None:
        return None
    failed = trouble(facts, "numa_bind_failed")
    if failed is not None:
        says = f"the host has {nodes:g} NUMA nodes, and binding the ranks to them failed"
        return Observation(says, facts.cite("host.numa_nodes") + failed.cites, 0.9, 0.2)
    says = f"the host has {nodes:g} NUMA nodes and nothing binds the ranks to them"
    return Observation(says, facts.cite("host.numa_nodes"), 0.9, 0.35)


def _jitter(facts: Facts) -> Observation | None:
    spoken = said(facts, _JITTER)
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.6, 0.015)


def _tried(facts: Facts) -> Observation | None:
    """An experiment of the user's own is the strongest there is."""
    spoken = said(facts, _TRIED)
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.6, 0.005)


CAUSE = NoNumaBinding()
