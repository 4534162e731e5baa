import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_samples import KIMI, KIMI_TEXT, LLAMA_8B, kimi

from ppagent.errors import UserError
from ppagent.model.architecture import Architecture, read_architecture
from ppagent.model.hf_config import HfConfig
from ppagent.model.mixers import Mixer
from ppagent.model.quantisation import Part
from ppagent.model.roofline import distinct_experts


def billions(config: dict[str, object]) -> float:
    return sum(read_architecture(config).parameters().values()) / 1e9


def active_parameters(model: Architecture) -> int:
    """Parameters that one token of a decode step touches (the embedding's one row left out)."""
    routed = sum(layer.expert * layer.active for layer in model.layers)
    fixed = sum(layer.attention + layer.dense_mlp + layer.shared + layer.router for layer in model.layers)
    return routed + fixed + model.lm_head


def test_a_kimi_k2_class_model_has_its_published_size() -> None:
    model = kimi()
    assert sum(model.parameters().values()) / 1e9 == pytest.approx(1026, abs=1)
    assert active_parameters(model) / 1e9 == pytest.approx(31.7, abs=0.1)
    assert model.weight_bytes() / 1e9 == pytest.approx(594, abs=1)
    assert model.mla


def test_its_first_layer_is_dense_and_light() -> None:
    model = kimi()
    assert [layer.experts for layer in model.layers[:2]] == [0, 384]
    assert model.layer_bytes(model.layers[0]) / 1e9 == pytest.approx(1.0, abs=0.02)
    assert model.layer_bytes(model.layers[1]) / 1e9 == pytest.approx(9.8, abs=0.05)
    assert model.layers[1].kv_values == 576


def test_the_language_model_is_found_inside_a_multimodal_config() -> None:
    assert billions(KIMI) == billions(KIMI_TEXT)
    assert billions({"thinker_config": {"text_config": KIMI_TEXT}, "torch_dtype": "float16"}) == billions(KIMI_TEXT)


def test_a_quantisation_stated_outside_the_nested_config_counts() -> None:
    inner = {key: value for key, value in KIMI_TEXT.items() if key != "quantization_config"}
    outer = {"text_config": inner, "quantization_config": KIMI_TEXT["quantization_config"]}
    assert read_architecture(outer).weight_bytes() == kimi().weight_bytes()


def test_grouped_query_attention_is_counted_by_its_kv_heads() -> None:
    model = read_architecture(LLAMA_8B)
    assert billions(LLAMA_8B) == pytest.approx(8.03, abs=0.01)
    assert model.layers[0].kv_values == 2 * 8 * 128
    assert not model.mla


def test_mixtral() -> None:
    config = {**LLAMA_8B, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000}
    assert billions(config) == pytest.approx(46.7, abs=0.1)
    assert active_parameters(read_architecture(config)) / 1e9 == pytest.approx(12.7, abs=0.2)


def test_qwen3_moe() -> None:
    config = {
        "hidden_size": 4096,
        "num_hidden_layers": 94,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "intermediate_size": 12288,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 1536,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "vocab_size": 151936,
    }
    assert billions(config) == pytest.approx(235, abs=1)
    assert active_parameters(read_architecture(config)) / 1e9 == pytest.approx(21.6, abs=0.6)


def test_deepseek_v3() -> None:
    config = {**KIMI_TEXT, "n_routed_experts": 256, "first_k_dense_replace": 3, "num_attention_heads": 128}
    config |= {"vocab_size": 129280, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    assert billions(config) == pytest.approx(671, abs=1)
    assert read_architecture(config).weight_bytes() / 1e9 == pytest.approx(673, abs=3)


def test_gpt_oss_with_sliding_windows() -> None:
    config = {
        "hidden_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "intermediate_size": 2880,
        "num_local_experts": 128,
        "experts_per_token": 4,
        "vocab_size": 201088,
        "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 18,
        "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
    }
    model = read_architecture(config)
    assert billions(config) == pytest.approx(116.8, abs=0.5)
    assert model.sliding_window == 128
    assert model.layers[0].mixer is Mixer.SLIDING


@pytest.mark.parametrize(
    ("extra", "full"),
    [
        ({"full_attention_interval": 4}, [3, 7]),
        ({"attn_type_list": [0, 0, 0, 1] * 2}, [3, 7]),
        ({"attn_layer_period": 4, "attn_layer_offset": 2}, [2, 6]),
        ({"hybrid_override_pattern": "M-M*M-M*"}, [3, 7]),
        ({"linear_attn_config": {"full_attn_layers": [4, 8]}}, [3, 7]),
        ({"layer_types": ["linear_attention"] * 3 + ["full_attention"] + ["mamba"] * 4}, [3]),
    ],
)
def test_hybrids_keep_kv_in_their_attention_layers_only(extra: dict[str, object], full: list[int]) -> None:
    model = read_architecture({**LLAMA_8B, "num_hidden_layers": 8, **extra})
    assert [index for index, layer in enumerate(model.layers) if layer.kv_values] == full
    assert any("state" in note for note in model.notes)


def test_tied_embeddings_are_stored_once_and_still_read_as_a_head() -> None:
    model = read_architecture({**LLAMA_8B, "tie_word_embeddings": True})
    assert model.parameters()[Part.LM_HEAD] == 0
    assert model.lm_head == 128256 * 4096


def test_a_config_without_layers_is_a_users_error_that_names_the_field() -> None:
    with pytest.raises(UserError, match="num_hidden_layers"):
        read_architecture({"hidden_size": 8, "vocab_size": 10})


junk = st.one_of(st.none(), st.integers(-3, 300), st.text(max_size=5), st.lists(st.integers(0, 9), max_size=4))


@given(st.dictionaries(st.sampled_from(sorted(KIMI_TEXT)), junk, max_size=4))
def test_any_config_is_read_or_refused_as_a_users_error(damage: dict[str, object]) -> None:
    try:
        model = read_architecture({**KIMI_TEXT, **damage})
    except UserError:
        return
    assert model.weight_bytes() >= 0


@pytest.mark.parametrize("field", ["num_hidden_layers", "hidden_size", "vocab_size"])
@pytest.mark.parametrize("odd", [0, -5, 10**9, 10**400])
def test_a_size_that_no_model_has_is_refused_before_memory_is_filled(field: str, odd: int) -> None:
    with pytest.raises(UserError, match=field):
        read_architecture({**LLAMA_8B, field: odd})


@pytest.mark.parametrize("field", ["n_routed_experts", "num_experts_per_tok", "num_attention_heads", "kv_lora_rank"])
@pytest.mark.parametrize("odd", [-1, 10**9, 10**400])
def test_a_count_below_zero_or_beyond_any_model_is_refused_by_its_name(field: str, odd: int) -> None:
    with pytest.raises(UserError, match=field):
        read_architecture({**KIMI_TEXT, field: odd})


def test_a_token_takes_no_more_experts_than_there_are() -> None:
    with pytest.raises(UserError, match="a token takes 1000 of 384 experts"):
        read_architecture({**KIMI_TEXT, "num_experts_per_tok": 1000})


odd = st.sampled_from([-1, 0, 10**9, 10**400, 1e308, float("nan"), float("inf"), True, [], [-1], {}, {"bits": -1}])


@given(st.sampled_from(sorted(HfConfig.model_fields)), odd, st.sampled_from([KIMI_TEXT, LLAMA_8B]))
def test_an_absurd_figure_in_any_field_gives_figures_of_sane_size_or_is_refused(
    field: str, value: object, config: dict[str, object]
) -> None:
    try:
        model = read_architecture({**config, field: value})
    except UserError:
        return
    assert all(count >= 0 for count in model.parameters().values())
    assert 0 <= model.weight_bytes() < 1e30
    assert all(distinct_experts(layer.experts, layer.active, 1e5) >= 0 for layer in model.layers)
