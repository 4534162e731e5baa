"""LA002 model lacks PP support

What it is
    The model's code in this version takes no hidden states from an earlier stage (its `forward` has no
    `pp_proxy_tensors`), so it cannot be cut into stages.

Why it matters
    The check comes after the weights are loaded: an hour of loading can end in one assertion. Up to 0.5.5 some versions
    fail on the first forward instead.

Signals
    `Pipeline Parallel is not compatible with this model`, with pp_size above 1.

What refutes it
    One stage; a server that came up with its stages.

Remedies
    A version whose code for this model takes stages (look for `pp_proxy_tensors` in its file before loading), or tensor
    parallelism with the same number of GPUs where the head count divides.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.links import nodes, world
from ppagent.causes.sighting import FLAG_KINDS, MEMORY_KINDS, ended_by, is_up, trouble
from ppagent.causes.situation import stages
from ppagent.evidence.facts import Facts


class ModelLacksPp:
    id = "LA002"
    name = "model lacks PP support"
    prior = 0.04
    wants = ("args.pp_size", "trouble.pp_model_unsupported", "start.ready", "model.architectures")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring, up, refused = stages(facts), is_up(facts), trouble(facts, "pp_model_unsupported")
        if refused is not None and (up is None or ring is None):
            says = f"SGLang says that {_model(facts)} cannot be pipelined"
            return (Observation(says, refused.cites, 0.95, 0.001),)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one stage only, so nothing is cut", ring.cites, 0.001, 0.5),)
        if up is not None:
            says = f"{up.says} with {ring.value:g} stages"
            return (Observation(says, up.cites + ring.cites, 0.005, 0.8),)
        return ended_by(facts, "pp_flag_conflict", *MEMORY_KINDS, *FLAG_KINDS)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (
            Probe("logs.trouble", "the assertion stands near the end of a start that failed", 0),
            Probe("source.read", "whether the model's file takes pp_proxy_tensors in this version", 0),
        )

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("trouble.pp_model_unsupported", "model.architectures", "engine.version")
        newer = Remedy(
            self.id,
            "operator",
            f"Install a version whose code for {_model(facts)} takes pp_proxy_tensors; check the file before loading",
            Change(),
            cites,
            risks=("a newer version may rename flags of this launch",),
            verify="`ppagent check` accepts the launch, then the server reports itself ready",
            rollback="the version as it is now",
        )
        flat = _tensor_parallel(facts, cites)
        declined = Declined("SGLANG_PP_LAYER_PARTITION", "another cut needs the same code, which is not there", cites)
        return Advice((newer, flat) if flat is not None else (newer,), (declined,))


def _model(facts: Facts) -> str:
    classes = [str(name) for name in facts.items("model.architectures")]
    return classes[0] if classes else "this model"


def _tensor_parallel(facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    """The same GPUs as one stage, where they share the attention heads evenly."""
    gpus, hosts = world(facts), nodes(facts)
    heads = facts.number("model.num_attention_heads")
    if gpus is None or (heads is not None and heads % gpus.value):
        return None
    risks = ["two all-reduces a layer: slow over PCIe", "a full reload of the model"]
    if hosts is not None and hosts.value > 1:
        risks.insert(0, "the all-reduces cross the network between the nodes")
    return Remedy(
        "LA002",
        "relaunch",
        f"One stage of {gpus.value:g} tensor-parallel ranks",
        Change(set={"--tp-size": f"{gpus.value:g}", "--pp-size": "1"}),
        cites + gpus.cites,
        risks=tuple(risks),
        verify="the server reports itself ready",
        rollback="none: it does not start now",
        alone=True,
    )


CAUSE = ModelLacksPp()
