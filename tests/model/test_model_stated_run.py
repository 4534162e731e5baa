import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_samples import equal_ring

from ppagent.model.stated_run import StatedRun, closed_form, forecast_run
from ppagent.model.workload import Admission, Launch, Load

RING = equal_ring(8, 40, 8, host_ms=8, hop_ms=0.05)


def run(clients: int, limit: int, *, lockstep: bool = False, think_ms: float = 200) -> StatedRun:
    spread_ms = 0.0 if lockstep else 3000.0
    load = Load(clients, output_tokens=(20, 60), think_ms=think_ms, start_spread_ms=spread_ms, lockstep=lockstep)
    return StatedRun(RING, load, Admission(limit), 0.05, Launch.EMULATED, seconds=40)


def test_a_measured_run_lies_in_the_range_and_the_closed_form_is_near_it() -> None:
    found = forecast_run(run(8, 1))
    assert found.forecast.low <= 19.2 <= found.forecast.high
    assert found.closed_form == pytest.approx(19.2, rel=0.1)
    assert found.waiting == 0


def test_requests_beyond_the_slots_wait_and_what_is_served_is_what_the_slots_hold() -> None:
    fits, queues = forecast_run(run(8, 1)), forecast_run(run(16, 1))
    assert queues.waiting == 8
    assert queues.tokens_per_s == pytest.approx(fits.tokens_per_s, rel=0.05)
    assert queues.ttft_ms > 10 * fits.ttft_ms
    assert "8 of 16 requests wait" in queues.forecast.regime


def test_a_burst_that_does_not_fit_is_served_in_rounds() -> None:
    fits, queues = run(8, 1, lockstep=True), run(16, 1, lockstep=True)
    assert closed_form(queues) == pytest.approx(closed_form(fits), rel=0.05)


@settings(max_examples=25)
@given(st.integers(1, 12), st.sampled_from([1, 2, 4, 512]), st.floats(0, 500))
def test_the_range_holds_the_mean_and_no_run_serves_more_than_the_slots_can(
    clients: int, limit: int, think_ms: float
) -> None:
    stated = run(clients, limit, think_ms=think_ms)
    found = forecast_run(stated, draws=2)
    assert found.forecast.low <= found.tokens_per_s <= found.forecast.high
    running = min(clients, stated.room)
    assert found.tokens_per_s <= 1.02 * max(RING.tokens_per_s(f, running) for f in range(1, min(8, running) + 1))
