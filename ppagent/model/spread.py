"""What another slot limit (`pp_max_micro_batch_size`) would give: forecast from measured levels, and the best limit.

Spreading raises utilisation always and throughput only by the share of a turn that grows with the requests in a slot.
It loses where one stage is slow: the ring then turns at the pace of that stage times the filled slots.
"""

from dataclasses import dataclass

from ppagent.model.deployment import Deployment
from ppagent.model.fit import NOISE, Line
from ppagent.model.forecast import COLD_FLOOR, Effect, Forecast, throughput_forecast
from ppagent.model.ring import Ring, shared_ring
from ppagent.model.slots import filled_slots, line_at_fill

# Eight emulated stages on two cores missed the middle by 24 % when all slots were filled.
SHARED_HOST_FLOOR = 0.25


@dataclass(frozen=True)
class SpreadForecast:
    """One limit: slots it fills, requests it leaves waiting, device use now and then (mean share of time)."""

    limit: int
    filled: int
    queued: int
    busy_now: float
    busy_then: float
    forecast: Forecast

    @property
    def effect(self) -> Effect:
        """What the forecast says against the baseline."""
        return self.forecast.effect


def forecast_limit(deployment: Deployment, limit: int, concurrency: int) -> SpreadForecast:
    """What `limit` requests a slot would give at `concurrency` requests in flight."""
    running = min(concurrency, limit * deployment.slots)
    filled = min(-(-running // limit), deployment.slots)
    turn_now_ms = deployment.turn_now_ms(concurrency)
    baseline = deployment.baseline(concurrency)
    # What of each token's time is not the ring (prefill, think time, ramp): kept as it is, or in proportion.
    rest_ms = max(0.0, 1000.0 * concurrency / baseline - turn_now_ms)
    candidates: list[float] = []
    rings = _rings(deployment, concurrency, running / filled)
    for ring, error_ms in rings:
        turn_ms = ring.turn_ms(filled, running)
        candidates.append(1000.0 * running / (turn_ms + error_ms + rest_ms))
        candidates.append(1000.0 * running / max(turn_ms - error_ms, 1e-6) * turn_now_ms / (turn_now_ms + rest_ms))
    known = line_at_fill(deployment.levels, deployment.fill[0], deployment.slots, deployment.slot_limit) is not None
    ring = rings[0][0]
    forecast = throughput_forecast(
        concurrency,
        baseline,
        candidates,
        _regime(ring, filled, running, concurrency - running),
        _assumptions(deployment, known, concurrency),
        floor=(SHARED_HOST_FLOOR if deployment.shared_host else COLD_FLOOR, COLD_FLOOR),
    )
    now = max(1, round(filled_slots(concurrency, deployment.fill[0], deployment.slots, deployment.slot_limit)))
    return SpreadForecast(
        limit,
        filled,
        concurrency - running,
        _busy(ring, now, concurrency),
        _busy(ring, filled, running),
        forecast,
    )


def limit_candidates(slots: int, concurrency: int) -> tuple[int, ...]:
    """Limits worth comparing: for each number of slots the smallest limit that leaves nobody waiting, and one less."""
    least = [-(-concurrency // filled) for filled in range(1, min(slots, concurrency) + 1)]
    return tuple(sorted({limit for value in least for limit in (value, value - 1) if limit >= 1}))


def best_limit(deployment: Deployment, concurrency: int) -> SpreadForecast:
    """The limit with the best middle forecast; of limits within 1 % the largest, which leaves most room for bursts."""
    limits = limit_candidates(deployment.slots, concurrency)
    forecasts = [forecast_limit(deployment, limit, concurrency) for limit in limits]
    top = max(entry.forecast.middle for entry in forecasts)
    return max((entry for entry in forecasts if entry.forecast.middle >= 0.99 * top), key=lambda entry: entry.limit)


def _rings(deployment: Deployment, concurrency: int, batch_then: float) -> list[tuple[Ring, float]]:
    """Rings that the levels allow, each with the error of its turn: one for every fill and every view of the stages."""
    found: list[tuple[Ring, float]] = []
    for fill in sorted(set(deployment.fill)):
        line = line_at_fill(deployment.levels, fill, deployment.slots, deployment.slot_limit)
        batch = concurrency / filled_slots(concurrency, fill, deployment.slots, deployment.slot_limit)
        lines = _bounding_lines(deployment.turn_now_ms(concurrency), batch) if line is None else [line]
        for each in lines:
            scale, error_ms = _anchor(deployment, fill, each, batch_then)
            base_ms, per_request_ms = (scale * max(value, 0.0) for value in (each.base_ms, each.per_request_ms))
            for shares in deployment.shares:
                stages = shared_ring(base_ms, per_request_ms, shares).stages
                found.append((Ring(stages, slots=deployment.slots), error_ms))
    return found


def _anchor(deployment: Deployment, fill: float, line: Line, batch: float) -> tuple[float, float]:
    """Factor on `line` and error of a turn of `batch` requests a slot: a level measured at it beats the line."""
    for level in deployment.levels:
        filled = filled_slots(level.concurrency, fill, deployment.slots, deployment.slot_limit)
        if abs(level.concurrency / filled - batch) < 0.05 * batch:
            return level.turn_ms / line.turn_ms(batch), NOISE * level.turn_ms
    return 1.0, line.turn_err_ms(batch)


def _bounding_lines(turn_ms: float, batch: float) -> list[Line]:
    """With one level the slope is open: all of the turn fixed, or all of it with the requests."""
    fixed = Line(turn_ms, 0.0, 0.0, 0.0, 0.0, 0.0, 1)
    proportional = Line(0.0, turn_ms / batch, 0.0, 0.0, 0.0, 0.0, 1)
    return [fixed, proportional]


def _busy(ring: Ring, filled: int, requests: int) -> float:
    occupancy = ring.occupancy(min(filled, requests), requests)
    return sum(occupancy) / len(occupancy)


def _regime(ring: Ring, filled: int, running: int, queued: int) -> str:
    batch = running / filled
    slowest_ms, latency_ms = ring.slowest_ms(batch), ring.latency_ms(filled, running)
    if queued:
        return f"{queued} of {running + queued} requests wait for a slot: the limit caps the load"
    if filled * slowest_ms > 1.02 * latency_ms:
        stage = max(range(len(ring.stages)), key=lambda k: ring.stages[k].device_ms(batch))
        return f"stage-bound: stage {stage} takes {slowest_ms:.1f} ms and has to serve {filled} slots"
    growing_ms = ring.latency_ms(1, running) - ring.latency_ms(filled, running)
    if filled > 1 and growing_ms < 0.1 * latency_ms:
        return "memory-bound: a turn hardly grows with the requests in a slot, so every token still pays the whole ring"
    return f"latency-bound: a turn of {latency_ms:.1f} ms for {batch:.3g} requests a slot rules"


def _assumptions(deployment: Deployment, known_line: bool, concurrency: int) -> tuple[str, ...]:
    notes = []
    low, high = deployment.fill
    if not known_line:
        notes.append("one load level only: how a turn grows with the requests is open, so the range is wide")
    most = max(level.concurrency for level in deployment.levels)
    if concurrency > 2 * most:
        notes.append(f"{concurrency} requests lie far beyond the measured {most}; the line is carried on")
    if high > low:
        notes.append(f"the fill now may be {low:.2g} to {high:.2g} slots; both are in the range")
    if len(deployment.shares) == 1 and len(set(deployment.shares[0])) == 1:
        notes.append("stages taken as equal")
    if deployment.shared_host:
        notes.append("all stages share the host's cores, which full slots load more than a clump does")
    if any(level.measure == "throughput" for level in deployment.levels):
        notes.append("turns from throughput: prefill and think time are in them")
    return tuple(notes)
