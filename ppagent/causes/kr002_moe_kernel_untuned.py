"""KR002 MoE kernel untuned

What it is
    The Triton MoE kernel runs with a default block configuration, since no tuned file exists for this card, number of
    experts and format.

Why it matters
    Sometimes not at all: for small batches the kernel waits for memory whatever its blocks are. A tuned file gave
    9.5 % on one machine. The warning alone proves nothing.

Signals
    `Using default MoE kernel config`, together with a measured gain from a tuned file or another MoE runner.

What refutes it
    A model without experts; a start log that covers the place and has no such warning.

Remedies
    Tune for the shapes of this server, or try another MoE runner; keep it only if a measurement shows a gain.
"""

from ppagent.causes.cards import without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.kernel_gap import measured_gain, measured_remedy
from ppagent.causes.sighting import start_logged, trouble, trouble_words
from ppagent.evidence.facts import Facts

_LEVERS = ("moe-runner-backend", "MOE_CONFIG", "moe kernel", "tuned")
_EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")


class MoeKernelUntuned:
    id = "KR002"
    name = "MoE kernel untuned"
    prior = 0.03
    wants = ("trouble.moe_default_config", "model.num_experts", "trial.comparisons", "start.weights_gib")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        if _dense(facts):
            cites = facts.cite("model.architectures", "model.num_hidden_layers")[:1]
            return (Observation("the model has no experts", cites, 0.001, 0.5),)
        found = (_warning(facts), _measured(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts) or _dense(facts) or measured_gain(facts, *_LEVERS) is not None:
            return ()
        if not _warned(facts):
            return () if start_logged(facts) else (Probe("logs.trouble", "the start log has the warning, or not", 0),)
        return (Probe("tune.try", "only an A/B with a tuned file or another MoE runner shows whether it costs", 5),)

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("trouble.moe_default_config", "trial.comparisons")
        file = trouble_words(facts, "moe_default_config", "file").rpartition("/")[2]
        named = f" ({file})" if file else ""
        remedy = Remedy(
            self.id,
            "operator",
            f"Tune the MoE kernel for this card and shape, and put the file where the warning looks for it{named}",
            Change(),
            cites,
            risks=("tuning occupies a GPU for an hour or more", "a file fits one version of Triton"),
            verify="the warning is gone, and tok/s at the working concurrency beyond the noise of repeated runs",
            rollback="remove the file",
        )
        measured = measured_remedy(self.id, facts, *_LEVERS)
        declined = Declined("the warning alone", "it is often harmless: judge by a measurement", cites)
        return Advice((*measured, remedy), (declined,))


def _dense(facts: Facts) -> bool:
    """Whether the model's config is known and names no experts."""
    known = bool(facts.number("model.num_hidden_layers"))
    return known and not any(facts.number(f"model.{field}") for field in _EXPERTS)


def _warned(facts: Facts) -> bool:
    return trouble(facts, "moe_default_config") is not None


def _warning(facts: Facts) -> Observation | None:
    seen = trouble(facts, "moe_default_config")
    if seen is not None:
        says = "a default MoE kernel configuration is used, which alone is often harmless"
        return Observation(says, seen.cites, 0.95, 0.45)
    covered = start_logged(facts)
    return Observation("the start log has no such warning", covered, 0.03, 0.6) if covered else None


def _measured(facts: Facts) -> Observation | None:
    gain = measured_gain(facts, *_LEVERS)
    if gain is None or gain.value < 1.03:
        return None
    return Observation(gain.says, gain.cites, 0.85, 0.01)


CAUSE = MoeKernelUntuned()
