import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, LLAMA_8B, kimi, kimi_roofline, rtx_pro_6000

from ppagent.model.architecture import Layer, read_architecture
from ppagent.model.hardware import find_card
from ppagent.model.roofline import Roofline, distinct_experts

RING = kimi_roofline()


@pytest.mark.parametrize(
    ("batch", "gigabytes", "ring_ms", "one_slot", "full_ring"),
    [(1, 33.0, 18.4, 54, 435), (2, 44.6, 24.9, 80, 642), (4, 67.2, 37.5, 107, 853), (8, 110, 61.1, 131, 1047)],
)
def test_bytes_and_ceilings_of_the_seed(
    batch: int, gigabytes: float, ring_ms: float, one_slot: float, full_ring: float
) -> None:
    assert RING.ring_bytes(batch) / 1e9 == pytest.approx(gigabytes, rel=0.005)
    assert RING.ring_ms(batch) == pytest.approx(ring_ms, rel=0.005)
    assert 1000 * batch / RING.ring_ms(batch) == pytest.approx(one_slot, abs=0.6)
    assert 8 * 1000 * batch / RING.ring_ms(batch) == pytest.approx(full_ring, abs=0.6)


def test_a_single_request_cannot_pass_54_tokens_a_second_on_this_card() -> None:
    assert 1000 / RING.ring_ms(1) == pytest.approx(54, abs=3)


@pytest.mark.parametrize(
    ("card", "ceiling"),
    [("NVIDIA L40S", 26), ("NVIDIA GeForce RTX 4090", 31), ("NVIDIA H20", 121), ("NVIDIA H200", 145)],
)
def test_single_request_ceilings_of_other_cards(card: str, ceiling: float) -> None:
    found = find_card(card)
    assert found is not None
    assert 1000 / Roofline(kimi(), found).ring_ms(1) == pytest.approx(ceiling, abs=0.6)


@pytest.mark.parametrize(("batch", "default", "aware"), [(1, 284, 372), (2, 456, 617), (4, 660, 842), (8, 868, 1012)])
def test_the_lm_head_aware_split_raises_the_full_ring(batch: int, default: float, aware: float) -> None:
    assert 1000 * batch / max(RING.stage_ms(DEFAULT_SPLIT, batch)) == pytest.approx(default, abs=1)
    assert 1000 * batch / max(RING.stage_ms(HEAD_AWARE_SPLIT, batch)) == pytest.approx(aware, abs=1)


def test_the_stages_of_any_split_add_up_to_the_ring() -> None:
    assert sum(RING.stage_ms(DEFAULT_SPLIT, 3)) == pytest.approx(RING.ring_ms(3))
    with pytest.raises(ValueError, match="layers"):
        RING.stage_ms((8,) * 8, 1)


def test_context_costs_its_kv_cache() -> None:
    long = Roofline(kimi(), rtx_pro_6000(), context_tokens=100_000)
    assert long.ring_ms(1) - RING.ring_ms(1) == pytest.approx(3.9, abs=0.1)


def test_a_dense_model_reads_the_same_weights_for_any_batch() -> None:
    dense = Roofline(read_architecture(LLAMA_8B), rtx_pro_6000())
    assert dense.ring_bytes(8) == dense.ring_bytes(1)


def test_tensor_parallel_halves_each_cards_share() -> None:
    assert Roofline(kimi(), rtx_pro_6000(), tp=2).ring_ms(1) == pytest.approx(RING.ring_ms(1) / 2)


@pytest.mark.parametrize(("tokens", "experts"), [(1, 8), (2, 15.8), (4, 31), (8, 59.5), (16, 110)])
def test_distinct_experts(tokens: int, experts: float) -> None:
    assert distinct_experts(384, 8, tokens) == pytest.approx(experts, rel=0.01)


def test_a_sliding_layer_reads_no_more_of_a_context_than_its_window() -> None:
    windows = {"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"]}
    model = read_architecture({**LLAMA_8B, "num_hidden_layers": 2, **windows})
    sliding, full = model.layers

    def kv_bytes(layer: Layer, context_tokens: int) -> float:
        here = Roofline(model, rtx_pro_6000(), context_tokens=context_tokens)
        return here.layer_bytes(layer, 3) - Roofline(model, rtx_pro_6000()).layer_bytes(layer, 3)

    # Eight KV heads of 128, keys and values, two bytes each: 4096 bytes a token, for three requests.
    assert [kv_bytes(sliding, tokens) for tokens in (100, 1000)] == [3 * 4096 * 100, 3 * 4096 * 128]
    assert [kv_bytes(full, tokens) for tokens in (100, 1000)] == [3 * 4096 * 100, 3 * 4096 * 1000]


def test_a_layer_without_experts_wakes_none() -> None:
    assert distinct_experts(0, 0, 8) == 0


@given(st.integers(1, 512), st.integers(1, 16), st.integers(0, 500))
def test_no_batch_touches_more_experts_than_there_are(experts: int, active: int, tokens: int) -> None:
    touched = distinct_experts(experts, min(active, experts), tokens)
    assert 0 <= touched <= experts
    assert touched <= active * tokens + 1e-9
