"""HW002 thermal or hardware throttle

What it is
    A card lowers its clocks because it is too hot, or because the board signals a fault of supply (hardware slowdown,
    power brake).

Why it matters
    One throttled card is a slow stage of a pipeline, or the rank that every collective waits for.

Signals
    Throttle reasons hardware slowdown, hardware or software thermal, power brake; temperature near the limit; one
    card's clock well below the others' under the same work.

What refutes it
    None of these reasons while the card works, and a moderate temperature. SW power cap is another cause (HW001).

Remedies
    Cooling, dust, fan curves, air paths, supply cables; until then a lower power limit gives steady clocks.
"""

from ppagent.causes.cards import by_gpu, cite_all, numbers_by_gpu, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.evidence.facts import Facts

REASONS = frozenset({"hw_slowdown", "sw_thermal", "hw_thermal", "hw_power_brake"})
HOT_C = 87.0
COOL_C = 80.0
SLOW_CLOCK = 0.85


class ThermalThrottle:
    id = "HW002"
    name = "thermal or hardware throttle"
    prior = 0.03
    wants = ("gpu.throttle", "gpu.temperature_c", "gpu.sm_clock_mhz", "gpu.under_load")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        found = (_reasons(facts), _heat(facts), _clocks(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if without_gpu(facts):
            return ()
        if by_gpu(facts, "gpu.throttle") and facts.flag("gpu.under_load"):
            return ()
        return (Probe("gpu.samples", "throttle reasons and temperature, sampled while requests run", 2),)

    def advise(self, facts: Facts) -> Advice:
        cites = cite_all(facts, "gpu.throttle", "gpu.temperature_c", "gpu.sm_clock_mhz")
        where = ", ".join(_throttled(facts)) or "named by the samples"
        remedy = Remedy(
            self.id,
            "operator",
            f"Cool GPU {where}: fans, dust, air path, supply cables; a lower power limit meanwhile steadies its clock",
            Change(),
            cites,
            risks=("a lower power limit slows compute-bound work",),
            verify="no thermal reason under load, and its clock like the others'",
            rollback="the power limit as it is now",
        )
        declined = Declined("power limit, raised", "it makes a card that is too hot hotter", cites)
        return Advice((remedy,), (declined,))


def _throttled(facts: Facts) -> list[str]:
    rows = by_gpu(facts, "gpu.throttle").items()
    return [gpu for gpu, reasons in rows if isinstance(reasons, list) and REASONS & {str(r) for r in reasons}]


def _reasons(facts: Facts) -> Observation | None:
    throttle = by_gpu(facts, "gpu.throttle")
    if not throttle:
        return None
    cites, held = cite_all(facts, "gpu.throttle"), _throttled(facts)
    if held:
        first = throttle[held[0]]
        named = sorted(REASONS & {str(r) for r in first}) if isinstance(first, list) else []
        says = f"GPU {', '.join(held)} throttled: {', '.join(named).replace('_', ' ')}"
        return Observation(says, cites, 0.9, 0.006)
    if facts.flag("gpu.under_load"):
        return Observation("no thermal or hardware throttle reason under load", cites, 0.05, 0.9)
    return None


def _heat(facts: Facts) -> Observation | None:
    heat = numbers_by_gpu(facts, "gpu.temperature_c")
    if not heat:
        return None
    cites = cite_all(facts, "gpu.temperature_c")
    gpu = max(heat, key=lambda index: heat[index])
    says = f"GPU {gpu} is hottest at {heat[gpu]:.0f} C"
    if heat[gpu] >= HOT_C:
        return Observation(says, cites, 0.6, 0.06)
    if heat[gpu] < COOL_C and facts.flag("gpu.under_load"):
        return Observation(says, cites, 0.25, 0.75)
    return None


def _clocks(facts: Facts) -> Observation | None:
    """Cards of one kind at the same work differ by a few per cent; idle ones by anything."""
    clocks = numbers_by_gpu(facts, "gpu.sm_clock_mhz")
    names = set(by_gpu(facts, "gpu.names").values())
    if len(clocks) < 2 or len(names) > 1 or not facts.flag("gpu.under_load"):
        return None
    slowest = min(clocks, key=lambda index: clocks[index])
    others = [mhz for gpu, mhz in clocks.items() if gpu != slowest]
    mean = sum(others) / len(others)
    if clocks[slowest] >= SLOW_CLOCK * mean:
        return None
    says = f"GPU {slowest} runs at {clocks[slowest]:.0f} MHz, the others at {mean:.0f} MHz"
    return Observation(says, cite_all(facts, "gpu.sm_clock_mhz"), 0.4, 0.06)


CAUSE = ThermalThrottle()
