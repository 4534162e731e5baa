import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ppagent.model.events import simulate
from ppagent.model.ring import Ring, Stage, equal_ring
from ppagent.model.tally import Outcome
from ppagent.model.workload import Admission, Load

# Eight stages of 40 + 8 ms whose CPU needs 12 ms a step, as the lab with the emulated asynchronous device.
LAB = {"base_ms": 40, "per_request_ms": 8, "host_ms": 12, "hop_ms": 0.1, "return_ms": 1.0}
TRICKLE = Load(8, output_tokens=(20, 60), think_ms=200, start_spread_ms=3000)


def lab(limit: int, depth: int = 0, load: Load = TRICKLE) -> Outcome:
    ring = equal_ring(8, **LAB, async_depth=depth)
    return simulate(ring, load, Admission(limit), seconds=60, prefill_token_ms=0.05)


def test_trickling_requests_clump_into_one_slot_as_on_the_real_scheduler() -> None:
    outcome = lab(512)
    assert outcome.filled == pytest.approx(1.0, abs=0.1)
    assert outcome.running_per_pass > 7
    assert outcome.tokens_per_s == pytest.approx(8.75, rel=0.06)  # measured


def test_limit_1_spreads_them_and_more_than_doubles_the_throughput() -> None:
    outcome = lab(1)
    assert outcome.running_per_pass == 1
    assert outcome.tokens_per_s == pytest.approx(19.2, rel=0.07)  # measured
    assert min(outcome.busy) > 0.9


def test_limit_2_lands_between() -> None:
    assert lab(2).tokens_per_s == pytest.approx(16.4, rel=0.06)  # measured


def test_an_async_depth_of_2_changes_nothing_while_slots_stand_empty() -> None:
    assert lab(512, depth=2).tokens_per_s == pytest.approx(lab(512).tokens_per_s, rel=0.01)
    assert lab(1, depth=2).tokens_per_s == pytest.approx(18.8, rel=0.06)  # measured


@pytest.mark.parametrize(("clients", "measured"), [(1, 2.43), (4, 6.68)])
def test_lower_loads_land_on_the_recording(clients: int, measured: float) -> None:
    load = Load(clients, output_tokens=(20, 60), think_ms=200, start_spread_ms=3000)
    assert lab(512, load=load).tokens_per_s == pytest.approx(measured, rel=0.07)


def test_a_burst_falls_into_a_slot_of_one_and_a_slot_of_the_rest() -> None:
    ring = Ring((Stage(40, 8),) * 8, hop_ms=1, bookkeeping_ms=6)
    load = Load(8, output_tokens=(40, 40), think_ms=200, lockstep=True)
    outcome = simulate(ring, load, Admission(512), seconds=60, prefill_token_ms=0.05, synchronous=True)
    assert outcome.filled == pytest.approx(2.0, abs=0.1)
    assert outcome.tokens_per_s == pytest.approx(10.0, rel=0.08)  # measured 9.3-10.8


def test_a_limit_below_the_load_makes_requests_wait() -> None:
    ring = Ring((Stage(62, 3),) * 4, hop_ms=1, bookkeeping_ms=6)
    load = Load(8, output_tokens=(20, 60), think_ms=200, start_spread_ms=3000)
    tight = simulate(ring, load, Admission(1), seconds=60, synchronous=True)
    loose = simulate(ring, load, Admission(2), seconds=60, synchronous=True)
    assert tight.tokens_per_s < 0.65 * loose.tokens_per_s
    assert tight.mean_ttft_ms > 10 * loose.mean_ttft_ms


def test_a_long_prompt_in_chunks_stops_all_decoding() -> None:
    ring = equal_ring(4, 10)

    def itl_ms(prompt_tokens: int) -> float:
        load = Load(4, prompt_tokens=prompt_tokens, output_tokens=(40, 60), start_spread_ms=1500)
        return simulate(ring, load, Admission(4), prefill_token_ms=0.02).mean_itl_ms

    assert itl_ms(30_000) > 1.5 * itl_ms(64)


def test_a_slow_last_stage_delays_a_second_slot() -> None:
    ring = Ring((Stage(140, 2),) * 3 + (Stage(240, 2),), hop_ms=0.1)
    outcome = simulate(ring, Load(2, output_tokens=(999, 999)), Admission(1), seconds=60)
    assert outcome.mean_itl_ms == pytest.approx(787, rel=0.03)  # measured on the real scheduler


def test_the_same_seed_gives_the_same_run() -> None:
    assert lab(512) == lab(512)


def steady(ring: Ring, filled: int, batch: int) -> Outcome:
    """`filled` slots of `batch` requests that never end."""
    load = Load(filled * batch, prompt_tokens=1, output_tokens=(10**6, 10**6), gap_ms=0)
    return simulate(ring, load, Admission(batch), seconds=4, warm_up_s=2)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(5, 12), min_size=2, max_size=8),
    st.floats(0, 4),
    st.floats(0, 0.4),
    st.integers(0, 2),
    st.integers(1, 3),
    st.data(),
)
def test_closed_form_and_events_agree_where_both_apply(
    base_ms: list[float], host_ms: float, hop_ms: float, depth: int, batch: int, data: st.DataObject
) -> None:
    parts = tuple(Stage(value, 0.2, host_ms) for value in base_ms)
    ring = Ring(parts, hop_ms, 0.3, len(parts) + depth, 0.4)
    filled = data.draw(st.integers(1, len(parts)))
    outcome = steady(ring, filled, batch)
    assume(abs(outcome.filled - filled) < 0.01)
    assert outcome.mean_itl_ms == pytest.approx(ring.turn_ms(filled, filled * batch), rel=0.08)
