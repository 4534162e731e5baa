"""Forecasts where no slot limit deals the requests out: the fill is what arrivals make of it."""

from dataclasses import replace

from ppagent.model.deployment import Deployment, Shares
from ppagent.model.forecast import Forecast, throughput_forecast
from ppagent.model.regime import assumptions
from ppagent.model.ring import turn_of
from ppagent.model.spread import forecast_limit

# A change is said to do something from here on.
MOVES = 1.03


def forecast_released(
    deployment: Deployment, concurrency: int, *, slots: int | None = None, shares: tuple[Shares, ...] | None = None
) -> Forecast:
    """What is left when no limit forces `concurrency` requests apart any longer: they clump into one slot, or two where
    they come as bursts (the first alone, the rest behind it)."""
    limits = (concurrency, -(-concurrency // 2))
    one, two = (forecast_limit(deployment, limit, concurrency, slots=slots, shares=shares) for limit in limits)
    regime = f"nothing keeps the requests apart then, so they clump into one slot or two; {one.forecast.regime}"
    low, high = min(one.forecast.low, two.forecast.low), max(one.forecast.high, two.forecast.high)
    return replace(one.forecast, low=low, high=high, regime=regime)


def forecast_split(deployment: Deployment, shares: tuple[Shares, ...], concurrency: int) -> Forecast:
    """What another layer split gives while the slots stay filled as they are: something where one stage paces them."""
    baseline, running = deployment.baseline(concurrency), deployment.running(concurrency)
    ring_ms = deployment.turn_now_ms(concurrency)
    rest_ms = max(0.0, 1000.0 * running / baseline - ring_ms)
    rates: list[float] = []
    for fill in deployment.fill:
        filled = max(1, round(deployment.filled(concurrency, fill)))
        for now, then in zip(deployment.shares, shares, strict=False):
            gain = turn_of(now, filled) / turn_of(then, filled)
            rates += [baseline * gain, 1000.0 * running / (ring_ms / gain + rest_ms)]
    notes = assumptions(deployment, concurrency)
    if max(rates) < MOVES * baseline and min(rates) * MOVES > baseline:
        regime = "the slots that are filled now do not wait for the slowest stage, so a split by itself changes little"
        return throughput_forecast(concurrency, baseline, rates, regime, notes, floor=(0.05, 0.02))
    return throughput_forecast(concurrency, baseline, rates, "the slowest stage paces the slots that are filled", notes)
