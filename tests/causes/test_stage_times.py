"""What tells each stage's own time, and what does not."""

import pytest

from ppagent.causes.catalog import cause_of
from ppagent.causes.situation import in_flight
from ppagent.causes.stage_times import by_stage, levels_ratio, stages_seen
from tests.causes.builders import facts_of, judged, level

FOUR = {"args.pp_size": 4, "internal.slot_limit": 1, "model.num_hidden_layers": 8, "engine.version": "0.5.23"}


def levels_of(alone_ms: float, filled_ms: float) -> dict[str, object]:
    return {"bench.levels": [level(1, 1000 / alone_ms, mean_itl_ms=alone_ms), level(4, 8, mean_itl_ms=filled_ms)]}


def test_a_full_ring_that_turns_far_slower_than_one_request_needs_has_a_slow_stage() -> None:
    slow = {**FOUR, **levels_of(246, 456)}  # stages of 44, 44, 114 and 44 ms
    assert levels_ratio(facts_of(slow))[0] == pytest.approx(1.85, abs=0.01)
    judgement = judged(cause_of("PP004"), slow)
    assert judgement.state == "supported"
    assert "456 ms with all 4 slots filled" in judgement.because[0].says
    assert [remedy.kind for remedy in judgement.cause.advise(facts_of(slow)).remedies] == ["operator"]


def test_long_prompts_with_short_answers_may_be_what_fills_the_turn() -> None:
    rows = [
        level(1, 4, mean_itl_ms=246, input_len=2000, output_len=8),
        level(4, 8, mean_itl_ms=456, input_len=2000, output_len=8),
    ]
    assert judged(cause_of("PP004"), {**FOUR, "bench.levels": rows}).because == ()


def test_a_full_ring_that_turns_as_fast_as_one_request_clears_the_stages() -> None:
    assert judged(cause_of("PP004"), {**FOUR, **levels_of(180, 196)}).state == "refuted"


def test_equal_layers_alone_leave_a_slow_card_possible() -> None:
    judgement = judged(cause_of("PP004"), FOUR)
    assert judgement.state != "refuted"
    assert not stages_seen(facts_of(FOUR))


def test_requests_that_may_have_clumped_or_share_a_slot_prove_no_slow_stage() -> None:
    assert levels_ratio(facts_of({**FOUR, "internal.slot_limit": 512, **levels_of(246, 456)})) is None
    shared = {
        **FOUR,
        "internal.slot_limit": 2,
        "bench.levels": [level(1, 4, mean_itl_ms=246), level(8, 16, mean_itl_ms=456)],
    }
    assert judged(cause_of("PP004"), shared).because == ()


def test_slots_added_by_depth_lengthen_the_turn_without_slowing_a_stage() -> None:
    deeper = {**FOUR, "args.pp_async_batch_depth": 1}
    deeper["bench.levels"] = [level(1, 5.6, mean_itl_ms=180), level(5, 20, mean_itl_ms=230)]
    assert levels_ratio(facts_of(deeper))[0] == pytest.approx(1.02, abs=0.01)


@pytest.mark.parametrize(
    "seen",
    [
        {"metrics.fwd_occupancy": {f"PP{n}": 40.0 for n in range(4)}},
        {"gpu.power_w": {str(n): 200 for n in range(4)}},
        {"metrics.run_batch_busy": {f"PP{n}": 0.8 for n in range(4)}},
        {"stated.in_flight": 2},
    ],
)
def test_counters_cards_a_host_that_paces_and_a_load_below_the_stages_are_enough_to_see(
    seen: dict[str, object],
) -> None:
    assert stages_seen(facts_of({**FOUR, **seen}))


def test_a_host_that_launches_and_goes_on_shows_nothing_of_the_stages() -> None:
    assert not stages_seen(facts_of({**FOUR, "metrics.run_batch_busy": {f"PP{n}": 0.1 for n in range(4)}}))


def test_a_level_whose_clients_mostly_think_is_known_by_what_was_in_flight() -> None:
    thinking = level(4, 5.5, mean_itl_ms=189, achieved_concurrency=1.0)
    assert in_flight(facts_of({**FOUR, "bench.levels": [thinking]})).value == 1.0
    busy = level(8, 20, mean_itl_ms=390, achieved_concurrency=7.4)
    assert in_flight(facts_of({**FOUR, "bench.levels": [busy]})).value == 8


def test_two_requests_whose_turn_hardly_grows_over_ones_are_no_unfilled_micro_batches() -> None:
    two = {**FOUR, "internal.slot_limit": 512, "decode.running_req.p95": 2, "decode.lines": 20}
    two["bench.levels"] = [level(1, 5.2, mean_itl_ms=191), level(2, 9.4, mean_itl_ms=207)]
    assert judged(cause_of("PP001"), two).state == "refuted"


def test_a_stage_is_as_slow_as_its_slowest_rank_and_has_as_much_room_as_its_fullest_card() -> None:
    by_rank = {"PP0 TP0": 3.0, "PP0 TP1": 5.0, "DP1 PP10": 4.0, "TP7": 9.0}
    assert by_stage(by_rank) == {0: 5.0, 10: 4.0}
    assert by_stage(by_rank, min) == {0: 3.0, 10: 4.0}
