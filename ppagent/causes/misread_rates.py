"""Ways to misread a speed: two figures for the same tokens that differ by a telling factor."""

from ppagent.causes.misreadings import Misreading
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.said import said, stated_rates
from ppagent.causes.situation import Cites, Known, in_flight, levels, stages
from ppagent.evidence.facts import Facts

CLOSE = 0.15
"""Two rates this near to each other, relative, are taken for the same one."""

_FOR_EACH = (
    r"\b(?:each|apiece|per|a single)\b[^.]*\d\s*(?:tok|t/s)"
    r"|\d\s*tok\S*(?: \S+)? (?:per|for each|a) (?:user|client|request)"
)
"""A speed that is told as one request's is taken for nothing else."""

_SINCE = r"\b(?:since then|then|dropp?(?:ed|s)|fell|falls|collaps\w*|sank|sinks|went down|slowed down|after that)\b"
"""Words by which somebody tells of a speed that changed: the slow one is then another time's, and no misreading."""


def rates_agree(facts: Facts) -> Known | None:
    """Known where the client's, or the user's, speed is what the log says as well."""
    rates = _log_rates(facts)
    if not rates:
        return None
    told = [Known(level.tokens_per_s, level.cites) for level in levels(facts)] + list(stated_rates(facts))
    for known in reversed(told):
        if 0.75 * min(rates) <= known.value <= 1.25 * max(rates):
            says = f"{known.value:.4g} tok/s at the client fits the log's {min(rates):.4g} to {max(rates):.4g} tok/s"
            return Known(1, tuple(dict.fromkeys(known.cites + facts.cite("decode.throughput.p50"))), says)
    return None


def summed_over_stages(facts: Facts) -> Misreading | None:
    """Every stage prints the same decode line, so a sum over stages is the rate times their number."""
    ring, own = stages(facts), _steady(facts)
    if ring is None or ring.value < 2 or own is None:
        return None
    for stated in stated_rates(facts):
        if any(_close(stated.value, ring.value * rate) for rate in _log_rates(facts)):
            times = stated.value / own.value
            says = f"{stated.says} is {times:.1f} times the {own.value:.4g} tok/s of each of {ring.value:g} stages"
            right = f"Count one stage only: all {ring.value:g} print the same tokens, {own.value:.4g} tok/s"
            return Misreading(says, _joined(stated, own, ring), 0.85, 0.01, right)
    return None


def one_share_of_all(facts: Facts) -> Misreading | None:
    """One request's speed taken for the server's."""
    load, own = in_flight(facts), _steady(facts)
    if load is None or load.value < 2 or own is None or rates_agree(facts) is not None:
        return None
    if said(facts, _FOR_EACH) is not None:
        return None
    for stated in stated_rates(facts):
        if any(_close(stated.value * load.value, rate) for rate in _log_rates(facts)):
            says = f"{stated.says} is one of {load.value:.3g} requests' share of the server's {own.value:.4g} tok/s"
            right = f"Take the server's {own.value:.4g} tok/s for the whole, and its share of it for one user"
            return Misreading(says, _joined(stated, own, load), 0.8, 0.012, right)
    return None


def wall_clock_for_decode(facts: Facts) -> Misreading | None:
    """Tokens over the whole run, prompts and waits included, taken for the decode rate."""
    own, whole, heavy = _steady(facts), _whole_run(facts), _prefill_heavy(facts)
    if own is None or whole is None or own.value < 1.8 * whole.value:
        return None
    # A stated rate is no second figure beside itself.
    told = stated_rates(facts) if facts.get("bench.levels") is not None else ()
    taken = next((stated for stated in told if _close(stated.value, whole.value)), None)
    says = f"{whole.value:.4g} tok/s over the whole run, {own.value:.4g} tok/s while it decodes"
    right = f"Take {own.value:.4g} tok/s for decoding: {whole.value:.4g} tok/s holds the prefill of the prompts as well"
    verify = "the client's time between tokens agrees with the log's rate"
    if taken is None or not heavy:
        return Misreading(says, _joined(whole, own), 0.5, 0.15, right, verify)
    return Misreading(says, _joined(whole, own, taken), 0.8, 0.015, right, verify)


def _whole_run(facts: Facts) -> Known | None:
    """Output tokens over the time of the run: measured, else stated of a load that is mostly prefill."""
    measured = levels(facts)
    if measured:
        return Known(measured[-1].tokens_per_s, measured[-1].cites)
    stated = stated_rates(facts)
    return stated[0] if stated and _prefill_heavy(facts) else None


def _prefill_heavy(facts: Facts) -> bool:
    if (facts.number("prefill.share_of_lines") or 0.0) >= 0.4:
        return True
    return any(number(row.get("input_len")) >= 4 * number(row.get("output_len")) > 0 for row in bench_rows(facts))


def after_idle(facts: Facts) -> Misreading | None:
    """The first decode line after an idle stretch divides by the idle time as well."""
    own, stated = _steady(facts), stated_rates(facts)
    if own is None or not stated or rates_agree(facts) is not None or one_share_of_all(facts) is not None:
        return None
    lowest = min(stated, key=lambda rate: rate.value)
    if lowest.value > 0.1 * own.value or _steadily_that_slow(facts, lowest.value) or said(facts, _SINCE) is not None:
        return None
    says = f"{lowest.says}, while the log without the lines that follow an idle stretch is at {own.value:.4g} tok/s"
    right = f"Leave out the first decode line after idling: it holds the idle time; steady is {own.value:.4g} tok/s"
    return Misreading(says, _joined(lowest, own), 0.6, 0.015, right)


def _steadily_that_slow(facts: Facts, rate: float) -> bool:
    """Whether the log has lines as slow that follow no idle stretch: then it is a regime, and no misreading."""
    slowest = facts.number("decode.throughput.min")
    return slowest is not None and rate >= 0.75 * slowest


def _steady(facts: Facts) -> Known | None:
    rate = facts.number("decode.throughput.p50")
    return Known(rate, facts.cite("decode.throughput.p50")) if rate else None


def _log_rates(facts: Facts) -> list[float]:
    """The log's own speeds: typical and high ones, and those on both sides of a retraction."""
    names = [f"decode.throughput.{what}" for what in ("p50", "p95", "max")]
    values = (facts.number(name) for name in (*names, "decode.throughput_before", "decode.throughput_after"))
    return [value for value in values if value]


def _close(rate: float, other: float) -> bool:
    return abs(rate / other - 1) <= CLOSE


def _joined(*known: Known) -> Cites:
    return tuple(dict.fromkeys(cite for item in known for cite in item.cites))
