"""PP004 uneven stages

What it is
    One stage takes longer than the rest: more layers, the LM head on the last stage, a slower card. Once slots are
    filled, it paces the whole ring and the others wait for it.

Why it matters
    Each stage can be busy at most its own time over the slowest stage's. Up to 0.5.5 SGLang gave the whole remainder
    of layers to the last stage (61 over 8: 7,7,7,7,7,7,7,12); from 0.5.6 the last stages get one more each. It also
    fixes the KV capacity of all stages, since the smallest pool counts.

Signals
    A layer split whose longest stage is well above the mean; busy share, power or weights of one stage high and the
    rest lower. With one slot filled the split costs nothing: it shows when filling starts to work.

What refutes it
    Equal layers, equal weights and equal busy shares.

Remedies
    SGLANG_PP_LAYER_PARTITION with fewer layers on the slow stage (a restart; memory per stage changes), or 0.5.6 and
    later for its default rule. Where each stage's own time was measured (a trace, the device timer) the layers are
    dealt by it; else by the bytes of a step where graphs are on and model and card are known; else by their number.
    Decode prefers less on the last stage, and prefill equal layers: what it gains or loses is said.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.dealt_layers import dealt, prefill_effect
from ppagent.causes.physics import roofline_of, stage_costs_of
from ppagent.causes.situation import stages
from ppagent.causes.split import layer_split
from ppagent.causes.stage_times import busy_shares, by_busy, by_levels
from ppagent.evidence.facts import Facts

UNEVEN_FROM = 1.10
"""Longest over mean stage from which balance is worth a restart (a proposal of this tool, not an SGLang rule)."""

HEAVY = 1.3
"""Weights of the heaviest stage over the mean from which it has more layers, not only the head."""


class UnevenStages:
    id = "PP004"
    name = "uneven stages"
    prior = 0.1
    wants = (
        "args.pp_size",
        "model.num_hidden_layers",
        "engine.version",
        "start.weights_gib",
        "metrics.fwd_occupancy",
        "metrics.run_batch_busy",
        "metrics.forward_busy",
        "decode.fwd_occupancy",
        "profile.busy",
        "gpu.power_w",
        "bench.levels",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring = stages(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.6),)
        measured = [o for o in (by_busy(facts), by_levels(facts)) if o is not None]
        found = [o for o in (_by_split(facts), _by_bytes(facts), _by_weights(facts)) if o is not None]
        # A stage that was measured to be slow is slow whatever its layers and weights are.
        slow = any(o.supports for o in measured)
        return (*measured, *(o for o in found if o.supports or not slow))

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2 or busy_shares(facts)[1]:
            return ()
        return (
            Probe(
                "http.metrics",
                "the busy share of each stage (forward_execution_seconds_total per pp_rank, needs "
                "SGLANG_ENABLE_METRICS_DEVICE_TIMER=1) shows whether one paces the rest",
                1,
            ),
        )

    def advise(self, facts: Facts) -> Advice:
        split = layer_split(facts)
        if split is None:
            return Advice()
        costs, better = stage_costs_of(facts), dealt(facts, split)
        if better is None:
            return Advice((_find_it(facts),)) if costs is None and by_levels(facts) is not None else Advice()
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Split the layers {better.text} instead of {split.text}, {better.made_by}",
            Change(env={"SGLANG_PP_LAYER_PARTITION": better.text}),
            split.cites + (facts.cite(busy_shares(facts)[0]) if costs is not None else ()),
            risks=(
                *better.risks,
                prefill_effect(split.layers, better.layers),
            ),
            verify="busy shares of the stages move together, and tok/s at full slots rises",
            rollback="unset SGLANG_PP_LAYER_PARTITION and restart",
        )
        hurts = Declined(
            "--pp-max-micro-batch-size 1",
            "dealing requests over all slots makes every turn wait for the longest stage once per slot",
            split.cites,
        )
        uneven = split.imbalance if costs is None else max(costs.times) * len(costs.times) / sum(costs.times)
        return Advice((remedy,), (hurts,) if uneven > 1.25 else ())


def _find_it(facts: Facts) -> Remedy:
    """For stages that are uneven though their layers are not, where nothing yet says which one it is."""
    return Remedy(
        "PP004",
        "operator",
        "Find the slow stage (trace each, or watch power and clocks of their cards under load) and look at its card",
        Change(),
        facts.cite("bench.levels"),
        verify="the turn of a full ring comes near that of one request alone",
        rollback="none needed",
    )


def _by_split(facts: Facts) -> Observation | None:
    split = layer_split(facts)
    if split is None:
        return None
    says = f"layers lie {split.text} ({split.origin}): the longest stage is {split.imbalance:.2f} of the mean"
    if split.imbalance >= 1.4:
        return Observation(says, split.cites, 0.97, 0.01)
    if split.imbalance >= 1.25:
        return Observation(says, split.cites, 0.9, 0.05)
    if split.imbalance >= UNEVEN_FROM:
        return Observation(says, split.cites, 0.6, 0.2)
    return None  # equal layers do not make equal cards


def _by_bytes(facts: Facts) -> Observation | None:
    """Time of each stage at peak bandwidth for one request a slot, the LM head on the last."""
    roofline, split = roofline_of(facts), layer_split(facts)
    if roofline is None or split is None or sum(split.layers) != len(roofline.architecture.layers):
        return None
    times = roofline.stage_ms(split.layers, 1)
    ratio = max(times) * len(times) / sum(times)
    slowest = times.index(max(times))
    says = f"by bytes stage {slowest} takes {max(times):.2f} ms a step with one request, {ratio:.2f} of the mean"
    if ratio >= 1.3:
        return Observation(says + ", which counts once slots are filled", split.cites, 0.8, 0.2)
    return None


def _by_weights(facts: Facts) -> Observation | None:
    """Weights stand for layers where the split is not known. Where it is, the first and the last stage hold more for
    the embedding and the head, of which only the head takes time."""
    weights = facts.numbers("start.weights_gib")
    if len(weights) < 2 or max(weights.values()) < 0.5 or layer_split(facts) is not None:
        return None
    mean = sum(weights.values()) / len(weights)
    heaviest = max(weights, key=lambda rank: weights[rank])
    ratio = weights[heaviest] / mean
    if ratio < HEAVY:
        return None
    says = f"{heaviest} holds {weights[heaviest]:.1f} GiB of weights, {ratio:.2f} of the mean"
    return Observation(says, facts.cite("start.weights_gib"), 0.7, 0.08)


CAUSE = UnevenStages()
