"""Rings that measured levels allow: one for every fill they leave open, every line and every view of the stages."""

from dataclasses import dataclass, replace

from ppagent.model.deployment import Deployment, Shares
from ppagent.model.fit import NOISE, Line
from ppagent.model.ring import Ring, shared_ring
from ppagent.model.slots import filled_slots, line_at_fill

# Tokens of context that each request may hold, where a bound on a turn's growth needs a number.
LONG_CONTEXT_TOKENS = 8192


@dataclass(frozen=True)
class AllowedRing:
    """A ring that the levels allow, with the error of its turn in ms."""

    ring: Ring
    error_ms: float


def allowed_rings(
    deployment: Deployment, concurrency: int, batch_then: float, slots: int, shares: tuple[Shares, ...]
) -> list[AllowedRing]:
    """Rings of `slots` slots for steps of `batch_then` requests, their stages dividing a turn as `shares` say.

    Where `shares` add up to another sum than those of now, the stages' work together changes by as much.
    """
    found: list[AllowedRing] = []
    running = deployment.running(concurrency)
    views = list(zip(deployment.shares, shares, strict=False))
    for fill in sorted(set(deployment.fill)):
        line = line_at_fill(deployment.levels, fill, deployment.slots, deployment.slot_limit)
        filled = deployment.filled(concurrency, fill)
        lines = _bounding_lines(deployment, concurrency, running / filled, batch_then) if line is None else [line]
        for each in lines:
            scale, error_ms = _anchor(deployment, fill, each, batch_then)
            base_ms, per_request_ms = (scale * max(value, 0.0) for value in (each.base_ms, each.per_request_ms))
            for now, then in views:
                ring_now = replace(shared_ring(base_ms, per_request_ms, now), slots=deployment.slots)
                paced = _paced(ring_now, max(1, round(filled)), running)
                work = sum(then) / sum(now) / paced
                ring = shared_ring(base_ms * work, per_request_ms * work, then)
                found.append(AllowedRing(replace(ring, slots=slots), error_ms))
    return found


def _paced(ring: Ring, filled: int, running: int) -> float:
    """How much longer a turn is than its stages together, where the slowest of them paces the slots filled now."""
    filled = min(filled, running)
    return max(1.0, filled * ring.slowest_ms(running / filled) / ring.latency_ms(filled, running))


def _anchor(deployment: Deployment, fill: float, line: Line, batch: float) -> tuple[float, float]:
    """Factor on `line` and error of a turn of `batch` requests a slot: a level measured at it beats the line."""
    for level in deployment.served:
        filled = filled_slots(level.concurrency, fill, deployment.slots, deployment.slot_limit)
        if abs(level.concurrency / filled - batch) < 0.05 * batch:
            return level.turn_ms / line.turn_ms(batch), NOISE * level.turn_ms
    return 1.0, line.turn_err_ms(batch)


def _bounding_lines(deployment: Deployment, concurrency: int, batch: float, batch_then: float) -> list[Line]:
    """With turns at one batch only the slope is open: all of the turn fixed, or as much as the bytes that a step reads
    grow with the requests; where these are not known, all of it with the requests."""
    turn_ms, roofline = deployment.turn_now_ms(concurrency), deployment.roofline
    slope_ms = turn_ms / batch
    if roofline is not None and batch != batch_then:
        roofline = replace(roofline, context_tokens=max(roofline.context_tokens, LONG_CONTEXT_TOKENS))
        growth = roofline.ring_ms(max(batch_then, 1.0)) / roofline.ring_ms(max(batch, 1.0))
        slope_ms = min(slope_ms, turn_ms * (growth - 1) / (batch_then - batch))
    return [Line(turn_ms - slope * batch, slope, 0.0, 0.0, 0.0, 0.0) for slope in (0.0, slope_ms)]
