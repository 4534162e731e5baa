"""How many slots of the ring hold requests: every way the evidence has to tell, each as a reading of its own.

Readings can disagree; they are reported side by side and never averaged into one.
"""

import math
from dataclasses import dataclass

from ppagent.causes.situation import Cites, Known, in_flight, levels, running_per_slot, slots, stages
from ppagent.causes.traced import at_work
from ppagent.evidence.facts import Facts

PACED = 0.85
"""Share of its time at work from which a stage counts as the one that the others wait for."""

_BUSY = {"decode.fwd_occupancy": 100.0, "metrics.fwd_occupancy": 100.0, "metrics.forward_busy": 1.0}
"""Busy share of each stage on its device, by what makes it a share of 1."""


@dataclass(frozen=True)
class FillReading:
    """One way to tell how many slots are filled under load."""

    way: str
    """log, stated, gauge, tokens, occupancy or trace."""
    filled: float
    """Slots that hold requests, by this reading; the most that it allows where it gives a bound."""
    possible: float
    """Slots that could hold requests at that load: min(requests in flight, slots)."""
    says: str
    cites: Cites

    @property
    def only_at_most(self) -> bool:
        """Whether `filled` is a bound from above, which says nothing where it is high."""
        return self.way == "tokens"

    @property
    def of_stages(self) -> bool:
        """Whether the stages themselves were seen at work. At most one of them works for each filled slot, so that it
        bounds the fill from below whatever the load was; a count of `#running-req` rests on a load told elsewhere."""
        return self.way in ("occupancy", "trace")

    @property
    def share(self) -> float:
        """Filled of possible, 0 to 1."""
        return min(1.0, self.filled / self.possible)


def fill_readings(facts: Facts) -> tuple[FillReading, ...]:
    """Every reading the facts allow. Empty without a pipeline or without a sight of the load."""
    ring = slots(facts)
    if ring is None or ring.value < 2:
        return ()
    ways = (_by_log, _by_stated, _by_gauge, _by_tokens, _by_occupancy, _by_trace)
    return tuple(reading for way in ways if (reading := way(facts, ring.value)) is not None)


def _by_log(facts: Facts, ring_slots: float) -> FillReading | None:
    """The fullest micro-batch against the requests in flight at the top load level (PP0 `#running-req`)."""
    load, fullest = in_flight(facts), running_per_slot(facts)
    if load is None or fullest is None or fullest.value < 1 or load.value < 2:
        return None
    if fullest.value > 1.25 * load.value:
        return None  # the log saw more than the load that is known, so the two do not belong together
    possible = min(load.value, ring_slots)
    # Slots beside the fullest one hold at least one request each, and hardly more than it does.
    filled = min(possible, max(1.0, load.value / fullest.value))
    says = (
        f"one micro-batch holds {fullest.value:.3g} of {load.value:.3g} requests in flight: "
        f"about {filled:.2g} slots of {ring_slots:g}"
    )
    return FillReading("log", filled, possible, says, load.cites + fullest.cites)


def _by_stated(facts: Facts, ring_slots: float) -> FillReading | None:
    stated, load = facts.table("stated.running_per_stage"), in_flight(facts)
    low, high = stated.get("low"), stated.get("high")
    if load is None or not isinstance(low, int | float) or not isinstance(high, int | float) or low <= 0:
        return None
    middle = (low + high) / 2
    possible = min(load.value, ring_slots)
    filled = min(possible, load.value / middle)
    span = f"{low:g}" if low == high else f"{low:g}-{high:g}"
    says = (
        f"{span} running requests a stage were stated, {load.value:g} in flight: "
        f"about {filled:.2g} slots of {ring_slots:g}"
    )
    return FillReading("stated", filled, possible, says, facts.cite("stated.running_per_stage") + load.cites)


def _by_gauge(facts: Facts, ring_slots: float) -> FillReading | None:
    """The same count as the log's, where `/metrics` tells it too: a second look at another time."""
    running, load = facts.get("metrics.running_reqs"), in_flight(facts)
    if load is None or running is None or running.number is None or running.number < 1 or load.value < 2:
        return None
    if not any(name in facts for name in ("decode.running_req.p95", "decode.running_req.max")):
        return None  # then it is what stands in for the log
    possible = min(load.value, ring_slots)
    filled = min(possible, max(1.0, load.value / running.number))
    says = (
        f"the gauge of running requests stands at {running.number:.3g} of {load.value:.3g} in flight: "
        f"about {filled:.2g} slots of {ring_slots:g}"
    )
    return FillReading("gauge", filled, possible, says, (running.evidence, *load.cites))


def most_in_flight(facts: Facts, when: str = "mean") -> Known | None:
    """The most requests that can be in flight, in the mean or (`when` is max) at the peak: the tokens held over those
    that a prompt holds for itself, in the mean. Needs nothing but the log. None where prompts are cut in chunks, or
    hold hardly more than nothing: tokens out of the prefix cache count once however many requests share them."""
    held, seqs, lines = (facts.number(f) for f in (f"decode.tokens.{when}", "prefill.new_seq.mean", "prefill.lines"))
    new, cached = facts.number("prefill.new_tokens"), facts.number("prefill.cached_tokens")
    chunk = facts.arg_number("chunked_prefill_size") or facts.number("start.chunked_prefill_size")
    if not held or not seqs or not lines or new is None or chunk is None:
        return None
    own, whole = new / (seqs * lines), (new + (cached or 0)) / (seqs * lines)
    if own < 16 or whole > chunk / 2:
        return None
    most = held / own
    shared = f" with {own:.0f} of their own" if round(own) < round(whole) else ""
    says = f"{held:.0f} tokens held at prompts of {whole:.0f}{shared} are at most {most:.0f} requests"
    return Known(most, facts.cite(f"decode.tokens.{when}", "prefill.new_tokens"), says)


def _by_tokens(facts: Facts, ring_slots: float) -> FillReading | None:
    """A micro-batch near the most requests that can be in flight leaves none for other slots. `#token` is global,
    `#running-req` is not."""
    most, running = most_in_flight(facts), facts.number("decode.running_req.mean")
    if most is None or not running or running < 2:
        return None
    if running > 1.25 * most.value:
        return None  # those that run are not like those that were prefilled, so the mean prompt bounds nothing
    possible = min(most.value, ring_slots)
    if possible < 2:
        return None
    filled = min(possible, max(1.0, most.value / running))
    says = f"{most.says}, and one micro-batch holds {running:.1f}: at most {filled:.2g} slots of {ring_slots:g}"
    return FillReading("tokens", filled, possible, says, most.cites)


def _by_occupancy(facts: Facts, ring_slots: float) -> FillReading | None:
    """Busy share of each stage, summed: the number of stages at work at a time."""
    name = next((name for name in _BUSY if facts.numbers(name)), "")
    busy = [value / _BUSY[name] for value in facts.numbers(name).values() if value > 0]
    ring, load = stages(facts), in_flight(facts)
    if ring is None or len(busy) < 2 or len(busy) < ring.value:
        return None
    possible = min(load.value, ring.value) if load is not None else ring.value
    working = sum(busy)
    span = f"{min(busy):.0%} to {max(busy):.0%}"
    says = f"stages are busy {span} of the time: {working:.1f} of {ring.value:g} work at once"
    return FillReading("occupancy", working, possible, says, facts.cite(name) + (load.cites if load else ()))


def _by_trace(facts: Facts, ring_slots: float) -> FillReading | None:
    """Stages at work at a time while the server was traced. Where one hardly ever idles, that one sets the pace, and no
    further slot would be of use."""
    work, ring, load = at_work(facts), stages(facts), in_flight(facts)
    if work is None or ring is None or len(work[0]) < 2:
        return None
    shares, cites = work
    possible = min(load.value, ring.value) if load is not None else ring.value
    slowest = max(shares, key=shares.__getitem__)
    working = sum(shares.values())
    says = f"in the trace {working:.1f} of {ring.value:g} stages are at work at a time"
    if shares[slowest] >= PACED:
        says += f", {slowest} {shares[slowest]:.0%} of the time"
    filled = possible if shares[slowest] >= PACED else min(working, possible)
    return FillReading("trace", filled, possible, says, cites + (load.cites if load else ()))


@dataclass(frozen=True)
class TurnLine:
    """T(C) = beta + alpha C over the measured levels, ms."""

    beta_ms: float
    alpha_ms: float
    worst_residual: float
    """Largest residual as a share of the turn."""
    cites: Cites

    def turn_ms(self, requests: float) -> float:
        return self.beta_ms + self.alpha_ms * requests

    def spread_gain(self, requests: float, filled: float) -> float:
        """Times the present speed when one slot's requests are dealt over `filled` equal slots."""
        return self.turn_ms(requests) / self.turn_ms(requests / filled)


def turn_line(facts: Facts) -> TurnLine | None:
    """Least squares over the load levels; None with fewer than two different ones."""
    measured = levels(facts)
    xs = [level.concurrency for level in measured]
    if len(set(xs)) < 2:
        return None
    ys = [level.turn_ms for level in measured]
    mean_x, mean_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    spread = math.fsum((x - mean_x) ** 2 for x in xs)
    alpha = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    beta = mean_y - alpha * mean_x
    worst = max(abs(beta + alpha * x - y) / y for x, y in zip(xs, ys, strict=True))
    return TurnLine(beta, alpha, worst, measured[-1].cites)
