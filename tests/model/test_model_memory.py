import pytest
from model_samples import DEFAULT_SPLIT, LLAMA_8B, kimi

from ppagent.model.architecture import read_architecture
from ppagent.model.memory import kv_bytes_per_token, stage_weight_bytes


def test_weights_of_the_stages_add_up_to_the_checkpoint() -> None:
    weights = stage_weight_bytes(kimi(), DEFAULT_SPLIT)
    assert sum(weights) == pytest.approx(kimi().weight_bytes())
    assert weights[0] < weights[1] < weights[7]


def test_kv_of_a_latent_is_70_kb_a_token_over_all_layers() -> None:
    cells = kv_bytes_per_token(kimi(), DEFAULT_SPLIT)
    assert sum(cells) == 576 * 2 * 61
    assert kv_bytes_per_token(kimi(), DEFAULT_SPLIT, tp=2) == cells


def test_each_stage_holds_the_kv_of_its_own_layers() -> None:
    assert kv_bytes_per_token(kimi(), (1, 10, 50)) == (576 * 2 * 1, 576 * 2 * 10, 576 * 2 * 50)


def test_kv_heads_are_divided_over_tensor_parallel_ranks() -> None:
    model = read_architecture(LLAMA_8B)
    assert kv_bytes_per_token(model, (32,), tp=4)[0] == kv_bytes_per_token(model, (32,))[0] / 4
