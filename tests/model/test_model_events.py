from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_samples import equal_ring

from ppagent.model.events import simulate
from ppagent.model.ring import Ring, Stage
from ppagent.model.tally import Outcome
from ppagent.model.workload import Admission, Launch, Load

# Eight stages of 100 + 8 ms, as in `evals/lab`: the CPU's time to launch a step and around it was measured there too.
LAB = {"base_ms": 100, "per_request_ms": 8, "host_ms": 4, "hop_ms": 0.05}
AROUND_MS = 2.6
TRICKLE = Load(8, output_tokens=(24, 56), think_ms=200, think_spread=0.5, start_spread_ms=4900)


def lab(limit: int, depth: int = 0, load: Load = TRICKLE) -> list[Outcome]:
    ring = replace(equal_ring(8, **LAB, async_depth=depth), bookkeeping_ms=AROUND_MS)
    rules, how = Admission(limit), Launch.EMULATED
    return [
        simulate(ring, load, rules, seconds=40, warm_up_s=15, prefill_token_ms=0.05, launch=how, seed=seed)
        for seed in range(6)
    ]


def rate(outcomes: list[Outcome]) -> float:
    return fmean(outcome.tokens_per_s for outcome in outcomes)


@pytest.mark.parametrize(
    ("limit", "depth", "clients", "measured"),
    [(512, 0, 1, 1.12), (512, 0, 8, 5.87), (1, 0, 8, 8.95), (1, 0, 16, 9.14), (2, 0, 16, 16.56), (4, 0, 32, 28.63)],
)
def test_trickling_clients_get_what_the_real_scheduler_gave(
    limit: int, depth: int, clients: int, measured: float
) -> None:
    load = replace(TRICKLE, clients=clients)
    assert rate(lab(limit, depth, load)) == pytest.approx(measured, rel=0.05)


def test_trickling_requests_clump_into_one_slot() -> None:
    outcomes = lab(512)
    assert fmean(outcome.filled for outcome in outcomes) < 1.5


def test_limit_1_gives_every_request_its_own_slot() -> None:
    outcome = lab(1)[0]
    assert outcome.filled > 7
    assert min(outcome.busy) > 0.9


def test_an_async_depth_of_2_changes_nothing_while_slots_stand_empty() -> None:
    assert rate(lab(512, depth=2)) == pytest.approx(rate(lab(512)), rel=0.03)


def test_a_launch_that_takes_longer_lets_more_arrivals_fall_into_empty_slots() -> None:
    def filled(host_ms: float) -> float:
        ring = equal_ring(8, 40, 8, host_ms=host_ms)
        runs = (simulate(ring, TRICKLE, Admission(512), seconds=120, seed=seed) for seed in range(6))
        return fmean(outcome.filled for outcome in runs)

    assert filled(0.3) < filled(15) - 0.1


def test_a_burst_falls_into_a_slot_of_one_and_a_slot_of_the_rest() -> None:
    ring = Ring((Stage(40, 8),) * 8, hop_ms=1, bookkeeping_ms=6)
    load = Load(8, output_tokens=(40, 40), think_ms=200, lockstep=True)
    outcome = simulate(ring, load, Admission(512), seconds=60, prefill_token_ms=0.05, launch=Launch.BLOCKS)
    assert outcome.filled == pytest.approx(2.0, abs=0.1)
    assert outcome.tokens_per_s == pytest.approx(10.0, rel=0.08)  # measured 9.3-10.8


def test_a_limit_below_the_load_makes_requests_wait() -> None:
    ring = Ring((Stage(62, 3),) * 4, hop_ms=1, bookkeeping_ms=6)
    load = Load(8, output_tokens=(20, 60), think_ms=200, start_spread_ms=3000)
    tight = simulate(ring, load, Admission(1), seconds=60, launch=Launch.BLOCKS)
    loose = simulate(ring, load, Admission(2), seconds=60, launch=Launch.BLOCKS)
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
