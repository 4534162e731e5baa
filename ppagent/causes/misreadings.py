"""Ways to misread a time or a utilisation: what the figure is, and what it is not."""

from dataclasses import dataclass

from ppagent.causes.rows import Row, bench_rows, number
from ppagent.causes.said import said
from ppagent.causes.situation import Cites
from ppagent.evidence.facts import Facts

_BELIEVED_BUSY = r"\b(?:gpus?|cards?|util\w*)\b[^.]{0,60}\b(?:busy|saturated|maxed|fully|full load|pegged)\b"
_ZERO_SEEN = r"\b0 ?%[^.]{0,60}\b(?:snapshot|nvidia-smi|one look|gpus?)\b|\bsnapshot\b[^.]{0,60}\b0 ?%"


@dataclass(frozen=True)
class Misreading:
    """A figure that is not what it is taken for, how telling that is, and the figure to use instead."""

    says: str
    cites: Cites
    if_true: float
    if_false: float
    right: str
    verify: str = "the figures of client and server agree"


def ttft_without_stream(facts: Facts) -> Misreading | None:
    """Without streaming the first token arrives with the last one, so its time is the whole request's."""
    asked = said(facts, r"\bttft\b|\bfirst token")
    for row in bench_rows(facts):
        ttft_ms = number(row.get("mean_ttft_ms"))
        if ttft_ms > 0 and (row.get("streamed") is False or _first_is_last(row, ttft_ms)):
            break
    else:
        return None
    says = f"the benchmark did not stream: its time to first token, {ttft_ms:.4g} ms, is that of the whole request"
    right = "Measure the time to first token with streaming on, or read queue and prefill times off /metrics"
    verify = "the time to first token is far below the end-to-end time"
    if asked is None:
        return Misreading(says, facts.cite("bench.levels"), 0.6, 0.12, right, verify)
    cites = tuple(dict.fromkeys(facts.cite("bench.levels") + asked.cites))
    return Misreading(says, cites, 0.95, 0.015, right, verify)


def _first_is_last(row: Row, ttft_ms: float) -> bool:
    """Where streaming is not stated: the first token takes the whole request, and no time is left between tokens."""
    load, rate = number(row.get("concurrency")), number(row.get("output_throughput"))
    answer = number(row.get("output_len"))
    if row.get("streamed") is not None or load < 1 or rate <= 0 or answer < 16:
        return False
    whole_ms = 1000 * load * answer / rate
    between_ms = number(row.get("mean_tpot_ms")) or number(row.get("mean_itl_ms"))
    return 0.85 <= ttft_ms / whole_ms <= 1.3 and between_ms * answer < 0.1 * whole_ms


def busy_at_idle_power(facts: Facts) -> Misreading | None:
    """A kernel that waits for another card counts as use. Power tells work from waiting."""
    seen = _sampled(facts) or _stated(facts)
    if seen is None:
        return None
    says, cites = seen
    right = "Judge by power, SM activity or forward occupancy; sampled utilisation counts a waiting kernel as work"
    verify = "the forward occupancy of each rank is known"
    believed = said(facts, _BELIEVED_BUSY)
    if believed is None:
        return Misreading(says, cites, 0.4, 0.15, right, verify)
    return Misreading(says, tuple(dict.fromkeys(cites + believed.cites)), 0.85, 0.02, right, verify)


def _sampled(facts: Facts) -> tuple[str, Cites] | None:
    """The card that reads most used of those at little power."""
    use, power = facts.numbers("gpu.utilization"), facts.numbers("gpu.power_w")
    limits = facts.numbers("gpu.power_limit_w")
    waiting = [gpu for gpu in use if gpu in power and gpu in limits and _waits(use[gpu], power[gpu], limits[gpu])]
    if not waiting:
        return None
    gpu = max(waiting, key=use.__getitem__)
    says = f"GPU {gpu} reads {use[gpu]:.0f} % used at {power[gpu]:.0f} of {limits[gpu]:.0f} W: it waits in a kernel"
    return says, facts.cite("gpu.utilization", "gpu.power_w")


def _stated(facts: Facts) -> tuple[str, Cites] | None:
    use, watts = facts.numbers("stated.utilization").get("low"), facts.numbers("stated.power_w").get("high")
    limit = facts.number("stated.power_limit_w")
    if use is None or watts is None or limit is None or not _waits(use, watts, limit):
        return None
    says = f"{use:.0f} % used at {watts:.0f} of {limit:.0f} W was stated: the cards wait in a kernel"
    return says, facts.cite("stated.utilization", "stated.power_w")


def _waits(use_percent: float, power_w: float, limit_w: float) -> bool:
    return use_percent >= 80 and power_w < 0.35 * limit_w


def snapshot(facts: Facts) -> Misreading | None:
    """One look at nvidia-smi catches a moment between steps. It misleads, and hardly ever is all that is wrong."""
    spoken = said(facts, _ZERO_SEEN)
    if spoken is None:
        return None
    right = "Sample utilisation and power for ten seconds and more under load; one moment tells nothing"
    return Misreading(spoken.says, spoken.cites, 0.3, 0.12, right, "power and utilisation are known over ten seconds")
