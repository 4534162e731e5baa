"""IC003 custom all-reduce off

What it is
    For small messages SGLang has its own all-reduce kernel, several times quicker than NCCL. It is switched off by
    flag, or SGLang refuses it: more than two GPUs without NVLink, no working peer-to-peer, an unsupported number of
    ranks, a group that spans nodes.

Why it matters
    A decode step with tensor parallelism holds two all-reduces a layer; at 10 to 25 microseconds each, the difference
    is milliseconds a token.

Signals
    `Custom allreduce is disabled because ...` (since 0.5.10 with the class's name) or disable_custom_all_reduce=True,
    with tp_size above 1.

What refutes it
    tp_size 1: nothing uses the kernel. A start log that covers the place and has no such line, with the flag unset.

Remedies
    What the reason says: drop the flag, repair peer-to-peer, use 2, 4, 6 or 8 ranks. Where there are more than two
    PCIe-only cards, no flag turns it on: groups of two, or NCCL tuned for small messages.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import nvlink, through_host, world
from ppagent.causes.sighting import start_logged, trouble, trouble_words
from ppagent.causes.situation import no_cuda, tensor_parallel
from ppagent.evidence.facts import Facts

_KIND = "custom_allreduce_disabled"


class CustomAllReduceOff:
    id = "IC003"
    name = "custom all-reduce off"
    prior = 0.05
    wants = ("args.tp_size", "args.disable_custom_all_reduce", f"trouble.{_KIND}", "start.weights_gib", "gpu.nvlink")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ranks = tensor_parallel(facts)
        if ranks is None:
            return ()
        if ranks.value < 2:
            return (Observation("tp_size is 1, so nothing would use it", ranks.cites, 0.001, 0.5),)
        if no_cuda(facts) is not None:
            return ()
        found = (_refused(facts), _by_flag(facts), _not_refused(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ranks = tensor_parallel(facts)
        if ranks is not None and ranks.value < 2:
            return ()
        if self.observe(facts):
            return ()
        return (Probe("logs.trouble", "the start log says whether SGLang refused its own all-reduce", 0),)

    def advise(self, facts: Facts) -> Advice:
        reason = trouble_words(facts, _KIND, "reason").lower()
        cites = facts.cite(f"trouble.{_KIND}") + facts.cite_args("disable_custom_all_reduce")
        if trouble(facts, _KIND) is None:
            return Advice((_drop_flag(facts, cites),))
        if "pcie" in reason:
            return Advice((_pairs(facts, cites), _quick_protocol(cites)), (_no_flag(cites),))
        if "p2p" in reason:
            return Advice((_operator("Get peer-to-peer to work between the cards (driver, ACS, IOMMU)", cites),))
        if "node" in reason:
            return Advice((_operator("Keep a stage's tensor-parallel group inside one node", cites),))
        return Advice((_operator("Use 2, 4, 6 or 8 tensor-parallel ranks", cites),))


def _refused(facts: Facts) -> Observation | None:
    seen = trouble(facts, _KIND)
    if seen is None:
        return None
    reason = trouble_words(facts, _KIND, "reason")
    says = f"SGLang refused its own all-reduce: {reason}" if reason else "SGLang refused its own all-reduce"
    if "node" in reason.lower():
        return Observation(f"{says}, as it always does across nodes", seen.cites, 0.6, 0.15)
    return Observation(says, seen.cites, 0.9, 0.01)


def _by_flag(facts: Facts) -> Observation | None:
    """With more than two PCIe-only cards the flag changes nothing, since SGLang refuses there anyway."""
    if not facts.arg_flag("disable_custom_all_reduce"):
        return None
    cites, ranks, link = facts.cite_args("disable_custom_all_reduce"), tensor_parallel(facts), nvlink(facts)
    if ranks is not None and ranks.value > 2 and link is not None and not link.yes:
        says = f"switched off by flag, where {link.says} and more than two ranks would have been refused"
        return Observation(says, cites + link.cites, 0.4, 0.15)
    return Observation("disable_custom_all_reduce is set", cites, 0.6, 0.008)


def _not_refused(facts: Facts) -> Observation | None:
    covered = start_logged(facts)
    if not covered or trouble(facts, _KIND) is not None or facts.arg_flag("disable_custom_all_reduce"):
        return None
    return Observation("the start log shows no refusal, and no flag switches it off", covered, 0.03, 0.8)


def _drop_flag(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    risks = ["where peer-to-peer is broken the start hangs: test two ranks first"]
    if through_host(facts) is not None:
        risks.append("peer-to-peer is off on this server, perhaps for a reason")
    return Remedy(
        "IC003",
        "relaunch",
        "Let SGLang use its own all-reduce",
        Change(unset=("--disable-custom-all-reduce",)),
        cites,
        risks=tuple(risks),
        verify="the start log shows no refusal and the time of one token falls",
        rollback="--disable-custom-all-reduce",
    )


def _pairs(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    total = world(facts)
    depth = max(1, int(total.value // 2)) if total is not None else 1
    return Remedy(
        "IC003",
        "relaunch",
        f"Groups of two ranks in {depth} stages: the kernel takes two PCIe-only cards where peer-to-peer works",
        Change(set={"--tp-size": "2", "--pp-size": str(depth)}),
        cites + (total.cites if total is not None else ()),
        risks=(f"{depth} stages want at least {depth} requests in flight", "a full reload of the model"),
        verify="the refusal is gone from the start log, and tok/s at the working concurrency",
        rollback="the command that runs now",
        alone=True,
    )


def _quick_protocol(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC003",
        "relaunch",
        "Make NCCL quicker for small messages instead",
        Change(env={"NCCL_PROTO": "LL"}),
        cites,
        risks=("large messages (prefill, high concurrency) get slower with it",),
        verify="time per token at one and at the working concurrency",
        rollback="without the variable",
    )


def _no_flag(cites: tuple[str, ...]) -> Declined:
    return Declined(
        "--enable-p2p-check",
        "it tests peer-to-peer, and more than two PCIe-only cards are refused before any test",
        cites,
    )


def _operator(title: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "IC003",
        "operator",
        title,
        Change(),
        cites,
        risks=("a restart of the server",),
        verify="the refusal is gone from the start log",
        rollback="none needed",
    )


CAUSE = CustomAllReduceOff()
