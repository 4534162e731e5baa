from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, LLAMA_8B, kimi, kimi_roofline, rtx_pro_6000

from ppagent.model.architecture import read_architecture
from ppagent.model.memory import stage_weight_bytes
from ppagent.model.partition import best_partition, describe_partition
from ppagent.model.roofline import Roofline
from ppagent.sglang.layers import default_split

# 0.88 of what a card has beside a context of 1 GiB, less the KV of 262,144 tokens in eight layers of 576 values.
LIMIT_GIB = (rtx_pro_6000().memory_gib - 1) * 0.88 - 262_144 * 8 * 576 * 2 / 2**30


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_the_best_split_of_the_seed_takes_three_layers_off_the_last_stage(batch: int) -> None:
    best = best_partition(kimi_roofline(), 8, batch, LIMIT_GIB)
    assert best is not None
    assert best.layers == HEAD_AWARE_SPLIT
    assert best.text == "8,8,8,8,8,8,8,5"


def test_nine_moe_layers_leave_no_kv_cache_on_96_gb() -> None:
    unbound, bound = best_partition(kimi_roofline(), 8, 1), best_partition(kimi_roofline(), 8, 1, LIMIT_GIB)
    assert unbound is not None
    assert bound is not None
    assert 9 in unbound.layers
    assert max(stage_weight_bytes(kimi(), unbound.layers)) > LIMIT_GIB * 2**30
    assert max(stage_weight_bytes(kimi(), bound.layers)) < LIMIT_GIB * 2**30


def test_both_effects_are_shown_decode_gains_and_prefill_does_not_lose_here() -> None:
    default = describe_partition(kimi_roofline(), DEFAULT_SPLIT, 1)
    best = describe_partition(kimi_roofline(), HEAD_AWARE_SPLIT, 1)
    assert fmean(default.stage_ms) / max(default.stage_ms) == pytest.approx(0.65, abs=0.01)
    assert fmean(best.stage_ms) / max(best.stage_ms) == pytest.approx(0.86, abs=0.01)
    assert max(default.layers) == max(best.layers) == 8, "a prompt's time is that of the layers"


def test_no_split_is_offered_where_none_fits() -> None:
    assert best_partition(kimi_roofline(), 8, 1, 20) is None
    assert best_partition(Roofline(read_architecture(LLAMA_8B), rtx_pro_6000()), 33, 1) is None


def test_every_stage_keeps_a_layer_however_long_the_head_takes() -> None:
    roofline = Roofline(read_architecture({**LLAMA_8B, "num_hidden_layers": 4}), rtx_pro_6000())
    assert roofline.head_ms() > 2 * roofline.stage_ms((1, 3), 1)[0]
    best = best_partition(roofline, 3, 1)
    assert best is not None
    assert sorted(best.layers) == [1, 1, 2]
    assert best.layers[-1] == 1


def test_the_embedding_takes_room_on_the_first_stage_and_the_head_on_the_last() -> None:
    roofline = Roofline(read_architecture({**LLAMA_8B, "num_hidden_layers": 8}), rtx_pro_6000())
    # A layer has 0.41 GiB, the embedding and the head 0.98 each: 1.5 GiB hold one layer beside either, and three alone.
    best = best_partition(roofline, 4, 1, 1.5)
    assert best is not None
    assert best.layers == (1, 3, 3, 1)


@given(st.integers(2, 12), st.sampled_from([1, 3, 8]))
def test_no_other_split_has_a_faster_slowest_stage(stages: int, batch: int) -> None:
    roofline = Roofline(read_architecture({**LLAMA_8B, "num_hidden_layers": 13}), rtx_pro_6000())
    best = best_partition(roofline, stages, batch)
    assert best is not None
    assert sum(best.layers) == 13
    assert max(best.stage_ms) <= max(roofline.stage_ms(default_split(13, stages, None), batch)) + 1e-9
    moved = [list(best.layers) for _ in range(stages - 1)]
    for index, split in enumerate(moved):
        split[index] += 1
        split[-1] -= 1
        if split[-1] >= 1:
            assert max(best.stage_ms) <= max(roofline.stage_ms(split, batch)) + 1e-9
