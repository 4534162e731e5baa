"""HW001 power cap

What it is
    A power limit below the card's default holds its clocks down.

Why it matters
    Compute-bound work (prefill, large batches) slows in proportion to the clock; decoding that waits for memory or for
    another card hardly changes. In a pipeline the capped card is a slow stage. A cap is often deliberate.

Signals
    power.limit below power.default_limit, power at the limit under load, throttle reason SW power cap.

What refutes it
    Power that never comes near the limit, or no throttle reason while the card works. A limit at its default is not a
    cap: a card that works hard reaches it, and that is what it is for.

Remedies
    Raise the limit where supply and cooling allow it, or accept the loss. More power does nothing for a card that
    waits.
"""

from ppagent.causes.cards import by_gpu, cite_all, numbers_by_gpu, peak_share, under_load, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.evidence.facts import Facts

CAPPED_BELOW = 0.97
AT_LIMIT = 0.95
FAR_FROM_LIMIT = 0.85


class PowerCap:
    id = "HW001"
    name = "power cap"
    prior = 0.04
    wants = (
        "gpu.power_max_w",
        "gpu.power_w",
        "gpu.power_limit_w",
        "gpu.power_default_limit_w",
        "gpu.throttle",
        "gpu.under_load",
        "stated.power_w",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        found = (_limit(facts), _reached(facts), _reason(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        peak = peak_share(facts)
        if peak is None:
            return (Probe("gpu.samples", "power against its limit, sampled while requests run", 2),)
        if peak.value >= FAR_FROM_LIMIT and not numbers_by_gpu(facts, "gpu.power_default_limit_w"):
            return (Probe("gpu.samples", "the default limit tells a cap from a card at full work", 2),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        capped = _capped(facts)
        cites = cite_all(facts, "gpu.power_limit_w", "gpu.power_default_limit_w", "gpu.throttle")
        default = numbers_by_gpu(facts, "gpu.power_default_limit_w")
        wanted = max((default[gpu] for gpu in capped), default=0.0)
        title = "Raise the power limit to the card's default where supply and cooling allow it, or accept the loss"
        if capped:
            title += f": nvidia-smi {_chosen(capped)} -pl {wanted:.0f}"
        remedy = Remedy(
            self.id,
            "operator",
            title,
            Change(),
            cites,
            risks=("supply and cooling must bear it; the cap may be deliberate",),
            verify="the throttle reason is gone under load, clocks rise, and prefill tok/s rises with them",
            rollback=_rollback(facts, capped),
        )
        declined = Declined(
            "batch and graph flags",
            "they change the work of a step, not the clock at which it runs",
            cites,
        )
        return Advice((remedy,), (declined,))


def _capped(facts: Facts) -> list[str]:
    limit, default = numbers_by_gpu(facts, "gpu.power_limit_w"), numbers_by_gpu(facts, "gpu.power_default_limit_w")
    return [gpu for gpu, watts in limit.items() if watts < CAPPED_BELOW * default.get(gpu, 0.0)]


def _limit(facts: Facts) -> Observation | None:
    limit, default = numbers_by_gpu(facts, "gpu.power_limit_w"), numbers_by_gpu(facts, "gpu.power_default_limit_w")
    if not limit or not default:
        return None
    cites, capped = cite_all(facts, "gpu.power_limit_w", "gpu.power_default_limit_w"), _capped(facts)
    if not capped:
        return Observation("every power limit is at its default", cites, 0.06, 0.75)
    gpu = capped[0]
    says = f"limit {limit[gpu]:.0f} W on {len(capped)} of {len(limit)} GPUs, default {default[gpu]:.0f} W"
    return Observation(says, cites, 0.95, 0.1)


def _reached(facts: Facts) -> Observation | None:
    """A card that never comes near its limit is not held down by it, however low the limit."""
    peak = peak_share(facts)
    if peak is None:
        return None
    if peak.value >= AT_LIMIT:
        return Observation(peak.says, peak.cites, 0.9, 0.15)
    if peak.value < FAR_FROM_LIMIT:
        return Observation(f"{peak.says}, and never comes near it", peak.cites, 0.02, 0.8)
    return None


def _reason(facts: Facts) -> Observation | None:
    throttle = by_gpu(facts, "gpu.throttle")
    if not throttle or not under_load(facts):
        return None
    cites = cite_all(facts, "gpu.throttle")
    held = [gpu for gpu, reasons in throttle.items() if isinstance(reasons, list) and "sw_power_cap" in reasons]
    if held:
        return Observation(f"throttle reason SW power cap on {len(held)} of {len(throttle)} GPUs", cites, 0.9, 0.08)
    if facts.flag("gpu.under_load"):
        return Observation("no power cap among the throttle reasons under load", cites, 0.05, 0.8)
    return None


def _rollback(facts: Facts, capped: list[str]) -> str:
    limit = numbers_by_gpu(facts, "gpu.power_limit_w")
    return f"nvidia-smi {_chosen(capped)} -pl {limit[capped[0]]:.0f}" if capped else "the limit as it is now"


def _chosen(gpus: list[str]) -> str:
    """The option that picks these cards; on each host where keys name hosts."""
    return "-i " + ",".join(dict.fromkeys(gpu.rpartition(":")[2] for gpu in gpus))


CAUSE = PowerCap()
