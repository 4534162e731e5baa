"""What the GPUs are and how hard they work, from samples where there are any, else from what the user stated."""

from ppagent.causes.cause import Observation
from ppagent.causes.sighting import Sighting
from ppagent.causes.situation import Cites, Known, no_cuda
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts
from ppagent.model.hardware import Card, find_card

BRIDGED = ("PCIe", "NVL", "3090")
"""Words in the names of cards whose NVLink is an optional bridge, so that the name alone does not tell."""


def by_gpu(facts: Facts, name: str) -> dict[str, FactValue]:
    """A table by GPU over all hosts; where several hosts state it, keys read "host:index"."""
    stated = [fact for fact in facts.all(name) if isinstance(fact.value, dict)]
    several = len({fact.host for fact in stated}) > 1
    rows: dict[str, FactValue] = {}
    for fact in stated:
        for gpu, value in (fact.value if isinstance(fact.value, dict) else {}).items():
            rows.setdefault(f"{fact.host}:{gpu}" if several else gpu, value)
    return rows


def numbers_by_gpu(facts: Facts, name: str) -> dict[str, float]:
    """The numeric rows of `by_gpu`."""
    rows = by_gpu(facts, name).items()
    return {gpu: float(v) for gpu, v in rows if isinstance(v, int | float) and not isinstance(v, bool)}


def cite_all(facts: Facts, *names: str) -> Cites:
    """Evidence of every host behind those names, each once."""
    return tuple(dict.fromkeys(fact.evidence for name in names for fact in facts.all(name) if fact.value is not None))


def _names(facts: Facts) -> tuple[list[str], Cites]:
    names = [str(name) for name in by_gpu(facts, "gpu.names").values() if name]
    if names:
        return names, cite_all(facts, "gpu.names")
    stated = facts.first("stated.gpu_model", "recording.gpus")
    return ([str(stated.value)], (stated.evidence,)) if stated is not None else ([], ())


def card(facts: Facts) -> tuple[Card, Cites] | None:
    """The card that all GPUs are; None where it is not in the hardware table, not known or not one."""
    names, cites = _names(facts)
    found = [find_card(name) for name in names]
    first = found[0] if found else None
    return (first, cites) if first is not None and all(other == first for other in found) else None


def generation(facts: Facts) -> tuple[int, Known] | None:
    """Compute capability of the cards in tens of its family (80, 90, 100, 120), with the evidence."""
    found = card(facts)
    if found is None or found[0].sm_version is None:
        return None
    sm = found[0].sm_version
    family = 120 if sm >= 120 else 100 if sm >= 100 else sm
    return family, Known(family, found[1], f"{found[0].name} (SM{sm})")


def nvlink_by_name(facts: Facts) -> Sighting | None:
    """Whether cards of that name come with NVLink between them: a guess for where no topology was read."""
    found = card(facts)
    if found is None:
        return None
    gpu, cites = found
    if gpu.nvlink_gb_per_s is None:
        return Sighting(False, cites, f"{gpu.name} has no NVLink")
    if any(word in gpu.name for word in BRIDGED):
        return None
    return Sighting(True, cites, f"{gpu.name} comes with NVLink")


def without_gpu(facts: Facts) -> tuple[Observation, ...]:
    """What a server on no CUDA device says against every cause that is about cards; empty where there is one."""
    known = no_cuda(facts)
    return () if known is None else (Observation(f"{known.says}, so there is no such card", known.cites, 0.001, 0.5),)


def under_load(facts: Facts) -> bool:
    """Whether the GPU samples may be read as those of a working server: not known to be idle."""
    return facts.flag("gpu.under_load") is not False


def power_share(facts: Facts) -> Known | None:
    """Mean power under load over its limit, 0 to 1: samples, else the upper end of what was stated."""
    power, limit = numbers_by_gpu(facts, "gpu.power_w"), numbers_by_gpu(facts, "gpu.power_limit_w")
    shares = [watts / limit[gpu] for gpu, watts in power.items() if limit.get(gpu)]
    if shares and under_load(facts):
        share = sum(shares) / len(shares)
        mean_w = sum(power.values()) / len(power)
        says = f"{mean_w:.0f} W a GPU, {share:.0%} of the limit"
        return Known(share, cite_all(facts, "gpu.power_w", "gpu.power_limit_w"), says)
    return _stated_share(facts)


def _stated_share(facts: Facts) -> Known | None:
    high, limit = facts.numbers("stated.power_w").get("high"), facts.number("stated.power_limit_w")
    if high is None or not limit:
        return None
    says = f"up to {high:g} W of {limit:g} W stated"
    return Known(high / limit, facts.cite("stated.power_w", "stated.power_limit_w"), says)


def peak_share(facts: Facts) -> Known | None:
    """The highest power of any GPU over its limit: whether the cap is ever reached."""
    peak = numbers_by_gpu(facts, "gpu.power_max_w") or numbers_by_gpu(facts, "gpu.power_w")
    limit = numbers_by_gpu(facts, "gpu.power_limit_w")
    shares = {gpu: watts / limit[gpu] for gpu, watts in peak.items() if limit.get(gpu)}
    if not shares or not under_load(facts):
        return _stated_share(facts)
    gpu = max(shares, key=lambda index: shares[index])
    says = f"GPU {gpu} reaches {peak[gpu]:.0f} W of its limit of {limit[gpu]:.0f} W"
    return Known(shares[gpu], cite_all(facts, "gpu.power_max_w", "gpu.power_w", "gpu.power_limit_w"), says)


def utilization(facts: Facts) -> Known | None:
    """Mean utilisation under load, percent. It counts a waiting kernel as work."""
    sampled = numbers_by_gpu(facts, "gpu.utilization")
    if sampled and under_load(facts):
        mean = sum(sampled.values()) / len(sampled)
        return Known(mean, cite_all(facts, "gpu.utilization"), f"utilisation {mean:.0f} %")
    stated = facts.numbers("stated.utilization")
    if not stated:
        return None
    mean = sum(stated.values()) / len(stated)
    return Known(mean, facts.cite("stated.utilization"), f"utilisation {mean:.0f} % stated")


def spinning(facts: Facts) -> Known | None:
    """Known where the GPUs look busy and draw little: kernels that wait (utilisation of 85 % and more, a third of the
    power limit or less). A decoding card of 600 W draws about half its limit."""
    busy, power = utilization(facts), power_share(facts)
    if busy is None or power is None or busy.value < 85 or power.value > 0.35:
        return None
    return Known(power.value, busy.cites + power.cites, f"{busy.says} at {power.says}")
