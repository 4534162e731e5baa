"""The host's side of a step: how busy the scheduler is, how idle the cards, and what slows the one for the other."""

from ppagent.causes.fill import fill_readings
from ppagent.causes.graphs import asked_off, effective_off, graph_share
from ppagent.causes.load import hardly_any
from ppagent.causes.situation import Known, no_cuda, stages, tensor_parallel
from ppagent.evidence.facts import Facts

FILLED = 0.8
"""From this share of possible slots on, empty slots no longer explain idle cards."""

SLOW_GOVERNORS = ("powersave", "conservative", "ondemand", "schedutil")


def device_busy(facts: Facts) -> Known | None:
    """Share of the wall time that the busiest rank spends in forwards, 0 to 1; None where slots of a pipeline are
    empty or not known to be filled, or hardly a request is there: idle cards then say nothing about the host."""
    for name, unit in (("metrics.forward_busy", 1), ("decode.fwd_occupancy", 100), ("metrics.fwd_occupancy", 100)):
        shares = [value / unit for value in facts.numbers(name).values()]
        if shares:
            break
    else:
        return None
    busiest = max(shares)
    if busiest < FILLED and (not _slots_filled(facts) or hardly_any(facts) is not None):
        return None
    return Known(busiest, facts.cite(name), f"the cards spend {busiest:.0%} of the time in forwards at the most")


def _slots_filled(facts: Facts) -> bool:
    ring = stages(facts)
    if ring is None or ring.value < 2:
        return ring is not None
    readings = [reading for reading in fill_readings(facts) if reading.way not in ("occupancy", "trace")]
    counted = [reading for reading in readings if not reading.only_at_most]
    return bool(counted) and min(reading.share for reading in readings) >= FILLED


def busiest_scheduler(facts: Facts) -> Known | None:
    """Cores that the busiest scheduler process uses; 1 is a full core, and its loop is one thread."""
    cores = facts.numbers("metrics.scheduler_cpu")
    if cores:
        return Known(max(cores.values()), facts.cite("metrics.scheduler_cpu"), _says(max(cores.values())))
    percent = facts.numbers("host.scheduler_cpu_percent")
    if percent:
        most = max(percent.values()) / 100
        return Known(most, facts.cite("host.scheduler_cpu_percent"), _says(most))
    return None


def _says(cores: float) -> str:
    return f"the busiest scheduler process uses {cores:.2f} of a core"


def slow_governor(facts: Facts) -> Known | None:
    """Known where the frequency governor saves power."""
    governor = facts.text("host.governor")
    if governor is None or governor.lower() not in SLOW_GOVERNORS:
        return None
    return Known(1, facts.cite("host.governor"), f"the CPU frequency governor is {governor}")


def crowded(facts: Facts) -> Known | None:
    """Known where more threads want to run than the host has, or ranks have hardly a core each."""
    load, threads, cores = (facts.number(f"host.{name}") for name in ("load_average", "threads", "cores"))
    room = threads or cores
    if load is not None and room and load > room:
        says = f"a load average of {load:g} on {room:g} hardware threads"
        return Known(load / room, facts.cite("host.load_average", "host.threads", "host.cores"), says)
    ring, ways = stages(facts), tensor_parallel(facts)
    if ring is None or ways is None or not cores or cores >= 2 * ring.value * ways.value:
        return None
    ranks = ring.value * ways.value
    return Known(ranks / cores, facts.cite("host.cores"), f"{cores:g} cores for {ranks:g} scheduler processes")


def decodes_eagerly(facts: Facts) -> Known | None:
    """Known where decode steps on CUDA mostly run without a graph, so that the host launches every kernel."""
    if no_cuda(facts) is not None:
        return None
    share = graph_share(facts)
    if share is not None:
        some = f"only {share.value:.0%}" if share.value >= 0.005 else "none"
        says = f"{some} of the decode steps ran from a graph"
        return Known(1 - share.value, share.cites, says) if share.value < 0.5 else None
    off = effective_off(facts) or asked_off(facts)
    return None if off is None else Known(1, off.cites, f"{off.flag} takes the graph from the decode steps")


def overlap_off(facts: Facts) -> Known | None:
    """Known where the launch switches the overlap scheduler off without a pipeline. With one it is always off, and
    a speculative algorithm or another feature may switch it off by itself, so the request is what counts."""
    ring = stages(facts)
    if ring is None or ring.value > 1 or facts.flag("launch.disable_overlap_schedule") is not True:
        return None
    cites = facts.cite("launch.disable_overlap_schedule")
    return Known(1, cites, "the overlap scheduler is switched off by flag, so every step waits for the host")
