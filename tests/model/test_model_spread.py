from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import (
    LAB_ASYNC,
    LAB_ASYNC_LIMIT_1,
    LAB_BURSTS,
    LAB_BURSTS_LIMIT_1,
    LAB_BURSTS_OF_16,
    LAB_LIMIT_2,
    LAB_LIMIT_2_AT_LIMIT_1,
    lab,
    seed_server,
)

from ppagent.model.deployment import Deployment, even_shares, share_views
from ppagent.model.fill import read_fill
from ppagent.model.forecast import Effect
from ppagent.model.levels import Level, level_from_throughput
from ppagent.model.spread import best_limit, forecast_limit, limit_candidates
from ppagent.model.unforced import forecast_released, forecast_split


def recorded(
    rows: tuple[dict[str, float], ...], stages: int, limit: int | None = None, cpu: bool = False
) -> Deployment:
    levels = lab(rows)
    report = read_fill(levels, stages, slot_limit=limit)
    fill = (report.fill_low, report.fill_high)
    return Deployment(levels, stages, stages, fill, (even_shares(stages),), limit, cpu)


def test_the_seed_at_limit_1_is_forecast_where_the_loop_model_puts_it() -> None:
    forecast = forecast_limit(seed_server().deployment(8), 1, 8).forecast
    overlap = min(forecast.high, 195) - max(forecast.low, 165)
    assert overlap / (forecast.high - forecast.low) > 0.6
    assert forecast.effect is Effect.HELPS
    assert forecast.low > 1.5 * 95.6


def test_the_change_measured_on_the_real_scheduler_lies_in_its_forecast() -> None:
    forecast = forecast_limit(recorded(LAB_ASYNC, 8), 1, 8).forecast
    assert forecast.low <= LAB_ASYNC_LIMIT_1 <= forecast.high
    assert forecast.high < 1.35 * forecast.low


def test_slots_beyond_the_stages_may_all_be_filled_now() -> None:
    """Measured in the lab: four even stages, async depth 2, 17.8 tok/s at 8 and 22.05 under a limit of 2."""
    levels = (level_from_throughput(1, 3.65), level_from_throughput(8, 17.8))
    forecast = forecast_limit(Deployment(levels, 4, 6, (1.0, 6.0), (even_shares(4),)), 2, 8).forecast
    assert forecast.low < 17.8 < forecast.high
    spread = forecast_limit(Deployment(levels, 4, 6, (1.0, 1.0), (even_shares(4),)), 2, 8).forecast
    assert spread.low <= 22.05 <= spread.high


def test_stages_that_share_the_cpu_get_a_range_that_holds_the_measured_loss() -> None:
    alone = forecast_limit(recorded(LAB_BURSTS, 8), 1, 8).forecast
    shared = forecast_limit(recorded(LAB_BURSTS, 8, cpu=True), 1, 8).forecast
    assert alone.low > LAB_BURSTS_LIMIT_1
    assert shared.low <= LAB_BURSTS_LIMIT_1 <= shared.high
    assert shared.effect is Effect.HELPS


def test_a_limit_below_the_load_is_forecast_to_hurt() -> None:
    result = forecast_limit(recorded(LAB_LIMIT_2, 4, limit=2), 1, 8)
    assert result.effect is Effect.HURTS
    assert result.forecast.low <= LAB_LIMIT_2_AT_LIMIT_1 <= result.forecast.high
    assert "4 of 8 requests wait for a slot" in result.forecast.regime


@pytest.mark.parametrize(("limit", "waiting"), [(1, 8), (2, 0)])
def test_bursts_beyond_the_limit_are_served_by_the_slots_there_are(limit: int, waiting: int) -> None:
    result = forecast_limit(recorded(LAB_BURSTS, 8, cpu=True), limit, 16)
    assert result.forecast.low <= LAB_BURSTS_OF_16[limit] <= result.forecast.high
    assert ("8 of 16 requests wait for a slot" in result.forecast.regime) == bool(waiting)


def test_levels_measured_while_requests_queued_tell_of_those_that_ran() -> None:
    """Eight slots of one: C=16 and C=64 run 8, and their C/X holds the wait of the others."""
    rates = {4: 100.0, 16: 200.0, 64: 205.0}
    levels = tuple(level_from_throughput(at, rate) for at, rate in rates.items())
    case = Deployment(levels, 8, 8, (8.0, 8.0), (even_shares(8),), slot_limit=1)
    assert [level.concurrency for level in case.served] == [4, 8]
    assert case.turn_now_ms(64) == pytest.approx(8000 / 205)
    assert case.turn_now_ms(16) == pytest.approx(8000 / 200)
    assert case.baseline(32) == 205.0
    assert case.running(64) == 8


def test_a_limit_that_is_lifted_lets_requests_clump() -> None:
    case = recorded(LAB_LIMIT_2, 4, limit=2)
    lifted = forecast_released(case, 8)
    assert lifted.low < forecast_limit(case, 8, 8).forecast.middle < lifted.high
    assert lifted.low < 0.8 * lifted.baseline
    assert "clump" in lifted.regime


def test_requests_that_are_let_go_clump_into_one_slot_or_two_halves_and_the_range_holds_both() -> None:
    case = recorded(LAB_LIMIT_2, 4, limit=2)
    lifted = forecast_released(case, 8)
    one, two = forecast_limit(case, 8, 8).forecast, forecast_limit(case, 4, 8).forecast
    assert one.high < two.high
    assert (lifted.low, lifted.high) == (one.low, two.high)


def test_what_of_a_tokens_time_is_no_turn_stays_or_goes_in_proportion_with_another_split() -> None:
    case = Deployment((Level(8, 40.0, "itl", 160.0),), 2, 2, (2.0, 2.0), ((0.75, 0.25),))
    found = forecast_split(case, ((0.5, 0.5),), 8)
    # By hand: 2 x 0.75 of a turn become 1, so 160 tok/s become 240 where all shrinks, and 8 requests in 26.7 ms and
    # the 10 ms beside them 218 where only the turn does; 10 % about the middle of both.
    assert (found.low, found.high) == pytest.approx(
        (0.9 * (218.18 * 240) ** 0.5, 1.1 * (218.18 * 240) ** 0.5), rel=1e-4
    )


def test_the_turn_of_a_load_between_two_lies_on_their_line_over_the_requests_in_a_slot() -> None:
    case = Deployment((Level(1, 40.0, "itl"), Level(8, 61.0, "itl")), 8, 8, (2.0, 2.0), (even_shares(8),))
    assert case.turn_now_ms(6) == pytest.approx(54)  # one in a slot takes 40 ms, four 61, so three 54
    assert replace(case, levels=case.levels[:1]).turn_now_ms(6) == 40.0
    assert case.baseline(6) == pytest.approx(1000 * 6 / 54)


def test_a_load_that_was_not_measured_is_not_read_off_one_that_had_a_queue() -> None:
    measured = (Level(1, 40.0, "itl", 24.0), Level(16, 60.0, "itl", 110.0))
    case = Deployment(measured, 8, 8, (8.0, 8.0), (even_shares(8),), slot_limit=1)
    assert case.baseline(16) == 110.0
    assert case.baseline(12) == 110.0  # as many run, and others wait there too
    assert case.baseline(8) == pytest.approx(1000 * 8 / 60)  # nobody waits, so nothing but turns is in it


def test_a_split_gives_what_the_slowest_stage_takes_where_it_paces_the_filled_slots() -> None:
    uneven, even = (12, 7, 7, 7, 7, 7, 7, 7), (8, 8, 8, 8, 8, 7, 7, 7)
    case = Deployment(dense(), 8, 8, (8.0, 8.0), share_views(uneven, None, 32.0))
    gain = forecast_split(case, share_views(even, None, 32.0), 8)
    assert gain.effect is Effect.HELPS
    assert gain.low < 12 / 8 * gain.baseline < gain.high
    one = replace(case, fill=(1.0, 1.0))
    assert forecast_split(one, share_views(even, None, 32.0), 8).effect is Effect.HARDLY


def test_a_limit_that_already_fits_the_load_is_kept() -> None:
    assert best_limit(recorded(LAB_LIMIT_2, 4, limit=2), 8).limit == 2


def test_slots_equal_to_the_load_take_limit_1() -> None:
    assert best_limit(seed_server().deployment(8), 8).limit == 1


def dense(stages: int = 8) -> tuple[Level, ...]:
    """Turns of a dense model: 32 ms of weights, nothing for a request more."""
    return tuple(level_from_throughput(at, 1000 * at / (32 + 0.16 * at)) for at in (1, 4, stages))


def test_a_dense_model_is_told_that_tokens_hardly_move_though_devices_get_busy() -> None:
    case = Deployment(dense(), 8, 8, (1.0, 1.0), (even_shares(8),))
    result = forecast_limit(case, 1, 8)
    assert result.busy_now == pytest.approx(0.125, abs=0.01)
    assert result.busy_then > 0.9
    assert result.effect in (Effect.HARDLY, Effect.CANNOT_TELL)
    assert result.forecast.middle == pytest.approx(result.forecast.baseline, rel=0.06)
    assert "memory-bound" in result.forecast.regime


def test_uneven_stages_make_full_spreading_lose_and_another_limit_is_chosen() -> None:
    shares = share_views((12, 7, 7, 7, 7, 7, 7, 7), None, 32.0)
    case = Deployment(dense(), 8, 8, (1.0, 1.0), shares)
    full, five = forecast_limit(case, 1, 8), forecast_limit(case, 2, 8)
    assert full.effect is Effect.HURTS
    assert "stage 0" in full.forecast.regime
    assert five.forecast.middle > full.forecast.middle
    assert best_limit(case, 8).limit > 1


def test_of_equally_good_limits_the_one_with_most_room_for_bursts_is_taken() -> None:
    levels = tuple(level_from_throughput(at, 1000 * at / (32 + 0.03 * at)) for at in (1, 4, 8))
    assert best_limit(Deployment(levels, 8, 8, (1.0, 1.0), (even_shares(8),)), 8).limit == 8


def test_more_requests_than_slots_fit_compares_waiting_with_doubling_up() -> None:
    assert limit_candidates(8, 9) == (1, 2, 3, 4, 5, 8, 9)
    nine = forecast_limit(seed_server().deployment(9), 1, 9)
    assert (nine.filled, "1 of 9" in nine.forecast.regime) == (8, True)
    doubled = forecast_limit(seed_server().deployment(9), 2, 9)
    assert (doubled.filled, "of 9" in doubled.forecast.regime) == (5, False)


def test_one_level_leaves_the_gain_open() -> None:
    case = replace(seed_server(), levels=seed_server().levels[-1:]).deployment(8)
    forecast = forecast_limit(replace(case, roofline=None), 1, 8).forecast
    assert forecast.effect is Effect.CANNOT_TELL
    assert forecast.high > 4 * forecast.low
    assert "one load level" in forecast.assumptions[0]


def test_one_level_gains_at_most_what_fewer_bytes_a_step_give_where_they_are_known() -> None:
    case = replace(seed_server(), levels=seed_server().levels[-1:]).deployment(8)
    bare, known = (forecast_limit(each, 1, 8).forecast for each in (replace(case, roofline=None), case))
    assert known.high < 0.7 * bare.high
    assert known.low <= 165 <= 195 <= known.high


def test_a_load_far_beyond_the_measured_ones_is_said_to_be_carried_on() -> None:
    assert any(
        "far beyond" in note for note in forecast_limit(seed_server().deployment(64), 8, 64).forecast.assumptions
    )


def test_the_lm_head_shows_only_in_the_view_that_waits_for_the_device() -> None:
    by_layers, by_device = share_views((4, 4), (1.0, 2.0), 6.0)
    assert by_layers == (0.5, 0.5)
    assert by_device == pytest.approx((2.5 / 6, 3.5 / 6))


@given(st.floats(5, 100), st.floats(0, 10), st.integers(2, 8), st.integers(1, 40), st.integers(1, 40))
def test_a_forecast_is_a_range_of_finite_throughput(
    base_ms: float, per_request_ms: float, stages: int, limit: int, concurrency: int
) -> None:
    levels = tuple(level_from_throughput(at, 1000 * at / (base_ms + per_request_ms * at)) for at in (1, 4, 8))
    case = Deployment(levels, stages, stages, (1.0, 2.0), (even_shares(stages),))
    result = forecast_limit(case, limit, concurrency)
    assert 0 < result.forecast.low <= result.forecast.high < 1e5
    assert 1 <= result.filled <= stages
    assert ("for a slot" in result.forecast.regime) == (concurrency > limit * stages)


def test_a_dense_models_few_requests_keep_more_stages_busy_and_are_told_to_gain_little() -> None:
    # Four even stages that read the same weights whatever the batch: 39.2 ms alone, 41.6 ms with eight in one slot.
    rows = ((1, 25.43, 39.21), (4, 98.82, 40.32), (8, 192.14, 41.61))
    levels = lab(tuple({"max_concurrency": c, "output_throughput": x, "mean_itl_ms": t} for c, x, t in rows))
    dense = Deployment(levels, 4, 4, (1.0, 1.4), (even_shares(4),))
    found = forecast_limit(dense, 2, 8)
    assert found.busy_then > 3 * found.busy_now
    # By hand: no turn is shorter than one request's own, so 8 / 39.21 ms = 204 tok/s at the most, 2 % of noise beside.
    assert found.forecast.high == pytest.approx(204.0 / 0.98, abs=0.1)
    assert found.effect is Effect.HARDLY


def test_requests_that_queue_are_not_bound_by_pauses_of_one_alone() -> None:
    slow_client = (level_from_throughput(1, 10.0), level_from_throughput(8, 60.0))
    queued = forecast_limit(Deployment(slow_client, 4, 4, (1.0, 1.0), (even_shares(4),)), 1, 8)
    assert queued.forecast.high > 4 * 10.0 / 0.98
