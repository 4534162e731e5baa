"""What another slot limit (`pp_max_micro_batch_size`) would give: forecast from measured levels, and the best limit.

Spreading raises utilisation always and throughput only by the share of a turn that grows with the requests in a slot.
It loses where one stage is slow: the ring then turns at the pace of that stage times the filled slots.
"""

from dataclasses import dataclass, replace

from ppagent.model.allowed_rings import AllowedRing, allowed_rings
from ppagent.model.deployment import Deployment, Shares
from ppagent.model.fit import NOISE
from ppagent.model.forecast import COLD_FLOOR, Effect, Forecast, throughput_forecast
from ppagent.model.regime import assumptions, queueing, regime_of
from ppagent.model.ring import Ring

# Eight emulated stages on two cores missed the middle by 24 % when all slots were filled, by 30 % with a queue as well.
SHARED_HOST_FLOOR = 0.32


@dataclass(frozen=True)
class SpreadForecast:
    """One limit: slots it fills, device use now and then (mean share of time)."""

    limit: int
    filled: int
    busy_now: float
    busy_then: float
    forecast: Forecast

    @property
    def effect(self) -> Effect:
        """What the forecast says against the baseline."""
        return self.forecast.effect


def forecast_limit(
    deployment: Deployment,
    limit: int,
    concurrency: int,
    *,
    slots: int | None = None,
    shares: tuple[Shares, ...] | None = None,
) -> SpreadForecast:
    """What `limit` requests a slot would give at `concurrency` requests in flight, with as many `slots` and views of
    the stages' `shares` as now unless they are given.

    Requests above limit x slots wait: the slots then serve as many as they hold, and those that wait add nothing but
    their own time to the first token.
    """
    slots = slots or deployment.slots
    running = min(concurrency, limit * slots)
    filled = min(-(-running // limit), slots)
    running_now = deployment.running(concurrency)
    cases = allowed_rings(deployment, concurrency, running / filled, slots, shares or deployment.shares)
    ring = cases[0].ring
    # The last view of the first line counts what layers alone do not, such as the LM head: it names the slowest stage.
    nearest = cases[min(len(deployment.shares), len(shares or deployment.shares)) - 1].ring
    forecast = throughput_forecast(
        concurrency,
        deployment.baseline(concurrency),
        [rate for case in cases for rate in _rates(deployment, concurrency, case, filled, running)],
        queueing(concurrency, running_now, running) + regime_of(nearest, filled, running),
        assumptions(deployment, concurrency),
        floor=(SHARED_HOST_FLOOR if deployment.shared_host else COLD_FLOOR, COLD_FLOOR),
    )
    if shares in (None, deployment.shares):
        forecast = _no_faster_than_alone(deployment, forecast, running)
    now = max(1, round(deployment.filled(concurrency, deployment.fill[0])))
    return SpreadForecast(limit, filled, _busy(ring, now, running_now), _busy(ring, filled, running), forecast)


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


def _no_faster_than_alone(deployment: Deployment, forecast: Forecast, running: int) -> Forecast:
    """`forecast` bounded by what every request would have with the ring to itself, where that was measured: no limit
    makes a turn shorter. A turn out of throughput has pauses in it, which requests that queue do not make."""
    alone = next((level for level in deployment.levels if level.concurrency == 1), None)
    if alone is None or (alone.measure == "throughput" and running < forecast.at_concurrency):
        return forecast
    most = 1000.0 * running / (alone.turn_ms * (1 - NOISE))
    return replace(forecast, low=min(forecast.low, most), high=min(forecast.high, most))


def _rates(
    deployment: Deployment, concurrency: int, case: AllowedRing, filled: int, running: int
) -> tuple[float, float]:
    """Throughput at both ends of the turn's error.

    What of each token's time now is not the ring (prefill, think time, ramp) stays as it is, or goes in proportion.
    """
    turn_now_ms = deployment.turn_now_ms(concurrency)
    rest_ms = max(0.0, 1000.0 * deployment.running(concurrency) / deployment.baseline(concurrency) - turn_now_ms)
    turn_ms = case.ring.turn_ms(filled, running)
    low = 1000.0 * running / (turn_ms + case.error_ms + rest_ms)
    high = 1000.0 * running / max(turn_ms - case.error_ms, 1e-6) * turn_now_ms / (turn_now_ms + rest_ms)
    return low, high


def _busy(ring: Ring, filled: int, requests: int) -> float:
    occupancy = ring.occupancy(min(filled, requests), requests)
    return sum(occupancy) / len(occupancy)
