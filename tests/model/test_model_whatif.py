from dataclasses import replace

import pytest
from model_samples import HEAD_AWARE_SPLIT, equal_ring, seed_server

from ppagent.model.forecast import Effect
from ppagent.model.regime import queueing, regime_of
from ppagent.model.whatif import Settings, what_if, what_if_ring

SEED = seed_server()
NOW = SEED.now


def test_each_lever_of_the_seed_lands_where_the_analysis_puts_it() -> None:
    spread = what_if(SEED, replace(NOW, slot_limit=1), 8)
    graph = what_if(SEED, replace(NOW, graph=True), 8)
    both = what_if(SEED, replace(NOW, graph=True, slot_limit=1), 8)
    best = what_if(SEED, replace(NOW, graph=True, slot_limit=1, split=HEAD_AWARE_SPLIT), 8)
    assert graph.high < spread.low < both.low < best.low
    assert graph.high <= 1.05 * 95.6
    assert both.high <= 215
    assert 250 <= best.low < best.high <= 285


def test_an_async_depth_alone_changes_nothing() -> None:
    forecast = what_if(SEED, replace(NOW, async_depth=2), 8)
    assert forecast.effect is Effect.HARDLY
    assert "fills none" in forecast.regime


def test_nothing_changed_is_the_baseline() -> None:
    forecast = what_if(SEED, NOW, 8)
    assert forecast.low < forecast.baseline == 95.6 < forecast.high


def test_a_split_alone_does_not_move_a_ring_with_one_filled_slot() -> None:
    assert what_if(SEED, replace(NOW, split=HEAD_AWARE_SPLIT), 8).effect is Effect.HARDLY


def test_graphs_and_filled_slots_need_model_and_card() -> None:
    bare = replace(SEED, roofline=None)
    with pytest.raises(ValueError, match="config and the card"):
        what_if(bare, replace(NOW, graph=True, slot_limit=1), 8)


def test_a_ring_by_its_numbers_gives_what_the_real_scheduler_gave() -> None:
    forecast = what_if_ring(equal_ring(8, 40, 8, hop_ms=0.1), Settings(), Settings(slot_limit=1), 8)
    assert forecast.baseline == pytest.approx(9.6, abs=0.1)
    assert forecast.low <= 19.2 <= forecast.high
    assert forecast.effect is Effect.HELPS


def test_a_deeper_ring_by_its_numbers_gains_nothing() -> None:
    forecast = what_if_ring(equal_ring(8, 40, 8), Settings(), Settings(async_depth=2), 8)
    assert forecast.effect is Effect.HARDLY
    assert "fills none" in forecast.regime


def test_what_an_investigation_saw_of_the_fill_counts_and_a_split_changes_the_shares_alone() -> None:
    seen = replace(SEED.deployment(8), fill=(3.0, 3.0))
    server = replace(SEED, seen=seen)
    assert server.deployment(8) == seen
    split = server.deployment(8, HEAD_AWARE_SPLIT)
    assert split.fill == (3.0, 3.0)
    assert split.shares == SEED.deployment(8, HEAD_AWARE_SPLIT).shares != seen.shares
    limit_1 = replace(NOW, slot_limit=1)
    assert what_if(server, limit_1, 8).low != what_if(SEED, limit_1, 8).low


def test_one_request_is_told_in_the_singular() -> None:
    ring = equal_ring(8, 40, 8)
    assert regime_of(ring, 4, 4).endswith("ms for 1 request a slot rules")
    assert regime_of(ring, 3, 4).endswith("ms for 1.33 requests a slot rules")
    assert queueing(8, 8, 7).startswith("1 of 8 requests waits for a slot: ")
    assert queueing(8, 6, 8) == "2 of 8 requests wait for a slot now, and none then; "
