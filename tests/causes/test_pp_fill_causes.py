"""PP001, PP002, PP003, PP004 and PP007: what fills a ring, what leaves it empty, and what to do about it."""

from typing import Any

import pytest
from builders import facts_of, healthy_server, judged, level, seed_case

from ppagent.causes.carried import useful_slots
from ppagent.causes.catalog import cause_of
from ppagent.causes.fill import fill_readings, turn_line
from ppagent.causes.split import layer_split

EIGHT_STAGES = {"args.pp_size": 8, "args.tp_size": 1, "internal.max_running_requests": 2048, "decode.lines": 50}
CLUMPED = {
    **EIGHT_STAGES,
    "decode.running_req.p95": 8,
    "decode.running_req.mean": 7.8,
    "bench.levels": [
        level(1, 2.43, mean_itl_ms=388.5),
        level(4, 6.68, mean_itl_ms=541.2),
        level(8, 9.0, mean_itl_ms=805.6),
    ],
}
SPREAD = {
    "args.pp_size": 4,
    "internal.slot_limit": 2,
    "internal.max_running_requests": 2048,
    "decode.lines": 50,
    "decode.running_req.p95": 2,
    "decode.running_req.mean": 1.9,
    "decode.queue_req.p50": 0,
    "decode.queue_share": 0.0,
    "bench.levels": [
        level(1, 3.28, mean_itl_ms=285.5),
        level(4, 11.7, mean_itl_ms=323.4),
        level(8, 21.17, mean_itl_ms=353.2),
    ],
}


def test_eight_requests_in_one_of_eight_slots_are_unfilled_micro_batches_and_the_limit_is_one() -> None:
    judgement = judged(cause_of("PP001"), CLUMPED)
    assert judgement.state == "supported"
    advice = judgement.cause.advise(facts_of(CLUMPED))
    assert [(r.kind, dict(r.change.set)) for r in advice.remedies] == [("live", {"--pp-max-micro-batch-size": "1"})]
    assert [d.lever for d in advice.declined] == ["--pp-async-batch-depth"]


def test_slots_filled_by_a_limit_of_an_even_share_are_not_unfilled() -> None:
    judgement = judged(cause_of("PP001"), SPREAD)
    assert judgement.state == "refuted"


def test_the_seed_is_unfilled_by_log_by_the_users_words_and_by_the_turns() -> None:
    seed = {**seed_case(), "stated.running_per_stage": {"low": 2, "high": 3}}
    assert judged(cause_of("PP001"), seed).state == "supported"
    readings = {reading.way: reading.filled for reading in fill_readings(facts_of(seed))}
    assert readings["log"] == pytest.approx(8 / 3)
    assert readings["stated"] == pytest.approx(3.2)


def test_the_seeds_turns_lie_on_a_line_that_own_slots_would_not_give() -> None:
    line = turn_line(facts_of(seed_case()))
    assert line is not None
    assert line.beta_ms == pytest.approx(34.1, abs=0.05)
    assert line.alpha_ms == pytest.approx(6.18, abs=0.01)
    assert line.worst_residual < 0.006
    assert line.spread_gain(8, 8) == pytest.approx(2.07, abs=0.02)


def test_a_ring_whose_turn_does_not_grow_is_not_sold_a_spread() -> None:
    dense = {
        **EIGHT_STAGES,
        "decode.running_req.p95": 8,
        "bench.levels": [
            level(1, 31.0, mean_itl_ms=32.2),
            level(4, 123.0, mean_itl_ms=32.5),
            level(8, 244, mean_itl_ms=32.8),
        ],
    }
    advice = cause_of("PP001").advise(facts_of(dense))
    assert advice.remedies == ()
    assert "--pp-max-micro-batch-size" in [d.lever for d in advice.declined]


def test_a_spread_that_is_forecast_to_change_little_is_not_sold_and_what_it_does_to_the_cards_is_said() -> None:
    dense = {
        "args.pp_size": 4,
        "internal.max_running_requests": 4096,
        "decode.lines": 50,
        "decode.running_req.p95": 8,
        "bench.levels": [
            level(1, 25.43, mean_itl_ms=39.21),
            level(4, 98.82, mean_itl_ms=40.32),
            level(8, 192.14, mean_itl_ms=41.61),
        ],
    }
    advice = cause_of("PP001").advise(facts_of(dense))
    assert advice.remedies == ()
    # By hand: 8 requests at one request's own 39.21 ms and 2 % of noise are 208 tok/s, 8 % over those of now.
    assert "limit 2 is forecast at 182-208 tok/s against 192 now: cards would be busy" in advice.declined[1].why


def test_without_any_sight_of_the_load_the_fill_cannot_be_told_and_the_probe_is_named() -> None:
    judgement = judged(cause_of("PP001"), {"args.pp_size": 8, "decode.lines": 20})
    assert judgement.state == "cannot_tell"
    assert [probe.tool for probe in judgement.probes] == ["logs.decode", "bench.results"]


def test_no_pipeline_no_unfilled_slots() -> None:
    assert judged(cause_of("PP001"), healthy_server()).state == "refuted"


@pytest.mark.parametrize(("requests", "state"), [(1, "supported"), (7, "supported"), (8, "refuted"), (64, "refuted")])
def test_fewer_requests_than_stages_is_a_property_of_the_load(requests: int, state: str) -> None:
    values = {**EIGHT_STAGES, "bench.levels": [level(requests, 20.0)]}
    assert judged(cause_of("PP002"), values).state == state


def test_a_queue_behind_a_set_limit_with_room_in_the_pool_is_a_limit_too_small() -> None:
    tight = {
        "args.pp_size": 8,
        "internal.slot_limit": 1,
        "internal.max_running_requests": 2048,
        "decode.running_req.p95": 1,
        "decode.queue_req.p50": 24,
        "decode.queue_share": 1.0,
        "decode.token_usage.p95": 0.05,
    }
    judgement = judged(cause_of("PP003"), tight)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(tight)).remedies
    assert (remedy.kind, remedy.change.set) == ("live", {"--pp-max-micro-batch-size": "4"})


def test_a_full_pool_or_an_empty_queue_is_no_limit_too_small() -> None:
    full = {
        "args.pp_size": 8,
        "internal.slot_limit": 256,
        "internal.max_running_requests": 2048,
        "decode.running_req.p95": 40,
        "decode.queue_req.p50": 24,
        "decode.queue_share": 1.0,
        "decode.token_usage.p95": 0.99,
    }
    assert judged(cause_of("PP003"), full).state == "refuted"
    assert judged(cause_of("PP003"), SPREAD).state == "refuted"


def test_twelve_layers_on_the_last_of_eight_stages_are_uneven_before_0_5_6_and_the_spread_is_five_slots() -> None:
    old = {**EIGHT_STAGES, "model.num_hidden_layers": 61, "engine.version": "0.5.5"}
    judgement = judged(cause_of("PP004"), old)
    assert judgement.state == "supported"
    assert useful_slots(facts_of(old), 8) == 5
    (remedy,) = judgement.cause.advise(facts_of(old)).remedies
    assert remedy.change.env == {"SGLANG_PP_LAYER_PARTITION": "8,8,8,8,8,7,7,7"}
    new = {**old, "engine.version": "0.5.11"}
    split = layer_split(facts_of(new))
    assert split is not None and split.layers == (7, 7, 7, 8, 8, 8, 8, 8)
    assert judged(cause_of("PP004"), new).state != "supported"
    assert useful_slots(facts_of(new), 8) == 8


def test_slots_worth_filling_follow_the_stages_own_times_where_they_were_taken() -> None:
    # By hand: equal layers carry four slots; 11, 11, 24 and 11 ms carry 57 / 24 = 2.4, and 11, 11, 57, 11 carry 1.6.
    even = {"args.pp_size": 4, "model.num_hidden_layers": 64, "engine.version": "0.5.23"}
    assert useful_slots(facts_of(even), 4) == 4
    timed = {**even, "metrics.fwd_occupancy": {"PP0": 11, "PP1": 11, "PP2": 24, "PP3": 11}}
    assert useful_slots(facts_of(timed), 4) == 3
    slower = {**even, "metrics.fwd_occupancy": {"PP0": 11, "PP1": 11, "PP2": 57, "PP3": 11}}
    assert useful_slots(facts_of(slower), 4) == 2


def test_one_busy_stage_among_equal_layers_is_uneven_and_gives_away_what_its_time_asks_for() -> None:
    slow = {
        "args.pp_size": 4,
        "model.num_hidden_layers": 32,
        "engine.version": "0.5.23",
        "metrics.fwd_occupancy": {"PP0": 48, "PP1": 95, "PP2": 47, "PP3": 49},
    }
    judgement = judged(cause_of("PP004"), slow)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(slow)).remedies
    # Layers at 6, 11.9, 5.9 and 6.1 each: 54, 47.5, 58.8 and 55.1, where 9,5,9,9 would leave 59.4.
    assert remedy.change.env == {"SGLANG_PP_LAYER_PARTITION": "9,4,10,9"}
    assert remedy.risks[0].startswith("stage 1 takes 2 times another's time for each layer: look at its card first")


def test_equal_layers_and_equal_busy_shares_refute_uneven_stages() -> None:
    even = {
        "args.pp_size": 4,
        "model.num_hidden_layers": 32,
        "engine.version": "0.5.23",
        "metrics.fwd_occupancy": {"PP0": 48, "PP1": 50, "PP2": 47, "PP3": 49},
    }
    assert judged(cause_of("PP004"), even).state == "refuted"


def test_the_return_path_is_told_only_with_filled_slots_and_busy_shares() -> None:
    filled = {**SPREAD, "metrics.fwd_occupancy": {f"PP{k}": 78 for k in range(4)}}
    assert judged(cause_of("PP007"), filled).state == "supported"
    assert judged(cause_of("PP007"), CLUMPED).state == "refuted"
    unknown = judged(cause_of("PP007"), SPREAD)
    assert unknown.state == "cannot_tell"
    assert unknown.probes[0].grade == 3


def test_a_bound_on_the_filled_slots_from_above_never_speaks_for_a_full_ring() -> None:
    measured = {
        "args.pp_size": 4,
        "args.chunked_prefill_size": 2048,
        "internal.slot_limit": 512,
        "decode.lines": 8,
        "decode.running_req.mean": 4.1,
        "decode.running_req.p95": 7,
        "decode.tokens.mean": 698,
        "prefill.lines": 30,
        "prefill.new_seq.mean": 1,
        "prefill.new_tokens": 1920,
        "prefill.cached_tokens": 0,
        "bench.levels": [level(8, 20.6, mean_itl_ms=383.9)],
    }
    readings = {reading.way: reading for reading in fill_readings(facts_of(measured))}
    assert readings["tokens"].only_at_most
    assert readings["tokens"].share > 0.62
    assert judged(cause_of("PP001"), measured).state == "supported"
    assert not judged(cause_of("PP001"), measured).against


def test_even_host_time_in_run_batch_does_not_clear_the_stages_and_uneven_host_time_points_at_one() -> None:
    even = {"args.pp_size": 4, "metrics.run_batch_busy": {f"PP{n}": 0.3 for n in range(4)}}
    assert judged(cause_of("PP004"), even).against == ()
    one_slow = {**even, "metrics.run_batch_busy": {"PP0": 0.3, "PP1": 0.3, "PP2": 0.8, "PP3": 0.3}}
    assert judged(cause_of("PP004"), one_slow).because[0].says.startswith("PP2 is busy 1.88 times the mean")
    on_device = {**even, "metrics.fwd_occupancy": {f"PP{n}": 30.0 for n in range(4)}}
    assert judged(cause_of("PP004"), on_device).state == "refuted"


FULL = {f"PP{stage}": 96.0 for stage in range(8)}


@pytest.mark.parametrize(
    "told",
    [
        {"metrics.fwd_occupancy": FULL},
        {"metrics.forward_busy": {stage: percent / 100 for stage, percent in FULL.items()}},
        {"profile.busy": {stage: percent / 100 for stage, percent in FULL.items()}},
    ],
    ids=["occupancy", "counters", "trace"],
)
def test_stages_that_are_at_work_all_the_time_leave_it_open_whether_slots_are_filled(told: dict[str, Any]) -> None:
    tokens = {"decode.tokens.mean": 3455, "decode.running_req.mean": 2.1, "args.chunked_prefill_size": 8192}
    prompts = {"prefill.new_seq.mean": 1, "prefill.lines": 20, "prefill.new_tokens": 10240}
    seed = {**seed_case(), **tokens, **prompts, "stated.running_per_stage": {"low": 2, "high": 3}}
    assert judged(cause_of("PP001"), seed).posterior > 0.95

    judgement = judged(cause_of("PP001"), {**seed, **told})
    assert judgement.state == "cannot_tell"
    assert judgement.posterior < 0.5
    assert "contradict each other: one micro-batch holds 3 of 8" in judgement.probes[0].why
    assert "7.7 of 8" in judgement.probes[0].why


def test_a_gauge_that_contradicts_the_log_lowers_the_confidence_and_is_named() -> None:
    alike = judged(cause_of("PP001"), {**CLUMPED, "metrics.running_reqs": 8.0})
    apart = judged(cause_of("PP001"), {**CLUMPED, "metrics.running_reqs": 1.0})
    assert apart.posterior < alike.posterior - 0.05
    assert "contradict each other" in apart.probes[0].why and "stands at 1 of 8" in apart.probes[0].why
    assert not any("contradict" in probe.why for probe in alike.probes)


def test_one_count_told_twice_counts_once() -> None:
    once = judged(cause_of("PP001"), CLUMPED)
    twice = judged(cause_of("PP001"), {**CLUMPED, "stated.running_per_stage": {"low": 8, "high": 8}})
    assert len(twice.because) == len(once.because) + 1
    assert twice.posterior - once.posterior < 0.02


@pytest.mark.parametrize(("second", "refuting"), [(1.11, True), (1.14, False)])
def test_a_growth_that_bounds_the_gain_below_what_the_model_can_tell_speaks_against_it(
    second: float, refuting: bool
) -> None:
    two = {
        **EIGHT_STAGES,
        "bench.levels": [level(1, 20, mean_itl_ms=50.0), level(8, 160 / second, mean_itl_ms=50.0 * second)],
    }
    against = [o.says for o in judged(cause_of("PP001"), two).against]
    assert any("gain next to nothing" in says for says in against) is refuting


def test_the_gain_is_bounded_by_the_turn_of_one_request_even_where_none_was_measured() -> None:
    three = {
        **EIGHT_STAGES,
        "bench.levels": [level(4, 76, mean_itl_ms=52.6), level(8, 140, mean_itl_ms=57.2)],
    }
    against = [o.says for o in judged(cause_of("PP001"), three).against]
    assert not any("gain next to nothing" in says for says in against)  # 57.2 / 52.6 is 1.09, 57.2 / 49.2 is 1.16


def test_the_way_back_names_the_old_limit() -> None:
    remedy = cause_of("PP001").advise(facts_of({**seed_case(), "internal.slot_limit": 369})).remedies[0]
    assert "the old value (369)" in remedy.rollback
