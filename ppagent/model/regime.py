"""What a forecast rests on, in words: who waits, what rules the turn, what was taken for granted."""

from collections.abc import Sequence

from ppagent.model.deployment import Deployment
from ppagent.model.ring import Ring
from ppagent.model.slots import line_at_fill

ALIKE = 0.005
"""Share of a stage's time by which nobody tells two apart."""


def queueing(concurrency: int, running_now: int, running: int) -> str:
    """Who waits for a slot, now and then; a wait lasts as many answers as there are requests for a place."""
    waiting_now, waiting = concurrency - running_now, concurrency - running
    if not waiting_now and not waiting:
        return ""
    if not waiting:
        return f"{wait_for_a_slot(waiting_now, concurrency)} now, and none then; "
    before = f", {waiting_now} now" if waiting_now else ""
    return (
        f"{wait_for_a_slot(waiting, concurrency)}{before}: the limit caps the load, and a first token "
        f"comes later by about {waiting / running:.2g} x the time of an answer; "
    )


def wait_for_a_slot(waiting: int, concurrency: int) -> str:
    """`1 of 8 requests waits for a slot`."""
    return f"{waiting} of {concurrency} requests {'waits' if waiting == 1 else 'wait'} for a slot"


def regime_of(ring: Ring, filled: int, running: int) -> str:
    """What rules the turn: one stage, the whole ring, or what every step reads whoever is in it."""
    batch = running / filled
    slowest_ms, latency_ms = ring.slowest_ms(batch), ring.latency_ms(filled, running)
    if filled * slowest_ms > 1.02 * latency_ms:
        named, several = pacing([stage.device_ms(batch) for stage in ring.stages])
        each = ("take", " each", "have") if several else ("takes", "", "has")
        return f"stage-bound: {named} {each[0]} {slowest_ms:.1f} ms{each[1]} and {each[2]} to serve {filled} slots"
    growing_ms = ring.latency_ms(1, running) - ring.latency_ms(filled, running)
    if filled > 1 and growing_ms < 0.1 * latency_ms:
        return "memory-bound: a turn hardly grows with the requests in a slot, so every token still pays the whole ring"
    return f"latency-bound: a turn of {latency_ms:.1f} ms for {_requests(batch)} a slot rules"


def _requests(count: float) -> str:
    """`1 request`, `1.33 requests`."""
    said = f"{count:.3g}"
    return f"{said} request{'' if said == '1' else 's'}"


def pacing(times: Sequence[float]) -> tuple[str, bool]:
    """The stage that takes longest, in words, and whether there are several: those that nobody can tell apart are all
    named. Whoever says which stage paces a ring says it by this."""
    slow = [stage for stage, time in enumerate(times) if time >= (1 - ALIKE) * max(times)]
    if len(slow) == 1:
        return f"stage {slow[0]}", False
    if len(slow) == len(times):
        return "every stage", False
    if slow == list(range(slow[0], slow[-1] + 1)):
        return f"stages {slow[0]}-{slow[-1]}", True
    return f"stages {', '.join(map(str, slow[:-1]))} and {slow[-1]}", True


def assumptions(deployment: Deployment, concurrency: int) -> tuple[str, ...]:
    """What the forecast takes for granted."""
    notes = []
    low, high = (deployment.filled(concurrency, fill) for fill in deployment.fill)
    if line_at_fill(deployment.levels, deployment.fill[0], deployment.slots, deployment.slot_limit) is None:
        seen = "one load level only" if len(deployment.levels) == 1 else "all levels had as many requests in a slot"
        notes.append(f"{seen}: how a turn grows with the requests is open, so the range is wide")
    most = max(level.concurrency for level in deployment.levels)
    if concurrency > 2 * most:
        notes.append(f"{concurrency} requests lie far beyond the measured {most}; the line is carried on")
    if high > low:
        notes.append(f"the fill now may be {low:.2g} to {high:.2g} slots; both are in the range")
    if deployment.measured is not None:
        notes.append(f"a turn divides over the stages by their own times ({deployment.measured.source})")
    elif len(deployment.shares) == 1 and len(set(deployment.shares[0])) == 1:
        notes.append("stages taken as equal")
    if deployment.shared_host:
        notes.append("all stages share the host's cores, which full slots load more than a clump does")
    if any(level.measure == "throughput" for level in deployment.levels):
        notes.append("turns from throughput: prefill and think time are in them")
    return tuple(notes)
