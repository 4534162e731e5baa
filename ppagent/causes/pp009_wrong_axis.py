"""PP009 PP is the wrong axis

What it is
    The model would fit fewer cards than there are stages, or NVLink would let tensor parallelism share every layer at
    little cost. Stages then have too little work for what a turn of the ring costs.

Why it matters
    An 8B model over eight stages was measured no faster than on one card. On NVLink four pipeline stages lost to tensor
    parallelism by half and more. No pipeline setting makes up for it.

Signals
    Weights of all stages together that fit half the cards or fewer; NVLink between the cards of one node and no
    tensor parallelism.

What refutes it
    Weights that need the stages. A stage a node, which spares the network the all-reduces. Long prompts, whose chunks
    fill a pipeline. One stage.

Remedies
    Replicas of the model on single cards where it fits one; tensor parallelism on NVLink; fewer stages. Each is another
    launch to measure, not a tuning.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import nodes, nvlink, world
from ppagent.causes.prompts import longest_prompt_tokens, prefills_only
from ppagent.causes.sighting import is_up, never_came_up
from ppagent.causes.situation import Known, no_cuda, stages, tensor_parallel
from ppagent.causes.weights import cards_needed
from ppagent.evidence.facts import Facts

LONG_PROMPT_TOKENS = 8192.0


class WrongAxis:
    id = "PP009"
    name = "PP is the wrong axis"
    prior = 0.06
    wants = (
        "args.pp_size",
        "start.weights_gib",
        "gpu.memory_total_mib",
        "gpu.nvlink",
        "args.nnodes",
        "model.hidden_size",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring, hosts = stages(facts), nodes(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.5),)
        if no_cuda(facts) is not None or never_came_up(facts):
            return ()
        if hosts is not None and 1 < hosts.value == ring.value:
            says = "one stage a node spares the network the all-reduces"
            return (Observation(says, hosts.cites + ring.cites, 0.05, 0.5),)
        found = (_size(facts, ring), _link(facts, ring), _prefill(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2 or no_cuda(facts) is not None:
            return ()
        asked = []
        if cards_needed(facts) is None:
            asked.append(Probe("logs.startup", "weights per stage against a card's memory are not known", 0))
        if nvlink(facts) is None:
            asked.append(Probe("gpu.topology", "NVLink would make tensor parallelism the better axis", 2))
        return tuple(asked)

    def advise(self, facts: Facts) -> Advice:
        needed, total, link, ring = cards_needed(facts), world(facts), nvlink(facts), stages(facts)
        if total is None or ring is None:
            return Advice()
        cites = total.cites + (needed.cites if needed is not None else ())
        remedies = []
        if link is not None and link.yes and _divides(facts, total.value):
            remedies.append(_tensor(total.value, cites + link.cites))
        if needed is not None and needed.value <= 1 and total.value == ring.value:
            remedies.append(_replicas(ring.value, cites))
        elif needed is not None and needed.value <= ring.value / 2:
            remedies.append(_fewer(needed.value, cites))
        declined = Declined("--pp-max-micro-batch-size", "filled slots make stages busy with too little work", cites)
        return Advice(tuple(remedies), (declined,))


def _size(facts: Facts, ring: Known) -> Observation | None:
    needed, total = cards_needed(facts), world(facts)
    if needed is None or total is None:
        return None
    says = f"{needed.says}, {ring.value:g} stages of {total.value / ring.value:g}"
    cites = needed.cites + total.cites
    if needed.value <= total.value / 4:
        return Observation(says, cites, 0.7, 0.012)
    if needed.value <= total.value / 2:
        return Observation(says, cites, 0.7, 0.1)
    if needed.value > 0.75 * total.value:
        return Observation(f"{says}: the model needs them", cites, 0.15, 0.6)
    return None


def _link(facts: Facts, ring: Known) -> Observation | None:
    link, ranks = nvlink(facts), tensor_parallel(facts)
    if link is None or ranks is None:
        return None
    if not link.yes:
        return Observation(f"{link.says}, so tensor parallelism would pay for every layer", link.cites, 0.3, 0.6)
    if ranks.value > 1:
        return None
    says = f"{link.says}, and {ring.value:g} stages use none of it for tensor parallelism"
    if is_up(facts) is None:
        return Observation(f"{says}; nothing shows it at work", link.cites + ranks.cites, 0.7, 0.25)
    return Observation(says, link.cites + ranks.cites, 0.7, 0.03)


def _prefill(facts: Facts) -> Observation | None:
    """Chunks of long prompts follow each other through the stages: there a pipeline beats tensor parallelism."""
    known, prompt = prefills_only(facts), longest_prompt_tokens(facts)
    if known is None and prompt is not None and prompt.value >= LONG_PROMPT_TOKENS:
        known = prompt
    if known is None:
        return None
    return Observation(f"{known.says}: prefill suits a pipeline", known.cites, 0.2, 0.5)


def _divides(facts: Facts, ranks: float) -> bool:
    heads = facts.number("model.num_attention_heads")
    return heads is None or heads % ranks == 0


def _tensor(gpus: float, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP009",
        "relaunch",
        f"Tensor parallelism over {gpus:g} cards instead of the pipeline",
        Change(set={"--tp-size": f"{gpus:g}", "--pp-size": "1"}),
        cites,
        risks=("a full reload", "KV capacity and batch limits differ: take them from the new start log"),
        verify="tok/s and time per token at one and at the working concurrency",
        rollback="the command that runs now",
        alone=True,
    )


def _replicas(count: float, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP009",
        "relaunch",
        f"{count:g} replicas of one card each",
        Change(set={"--dp-size": f"{count:g}", "--pp-size": "1"}),
        cites,
        risks=("each replica has its own prefix cache, and a smaller KV pool than the pipeline together",),
        verify="tok/s at the working concurrency, and time per token at one request",
        rollback="the command that runs now",
        alone=True,
    )


def _fewer(count: float, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP009",
        "relaunch",
        f"{count:g} stages instead, the other cards for a second server",
        Change(set={"--pp-size": f"{count:g}"}),
        cites,
        risks=("less memory for KV per server",),
        verify="tok/s per card at the working concurrency",
        rollback="the command that runs now",
        alone=True,
    )


CAUSE = WrongAxis()
