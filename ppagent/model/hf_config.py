"""The part of a Hugging Face `config.json` that the arithmetic needs, read tolerantly."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

# Where multimodal wrappers keep the language model's own config.
_NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "language_model_config")


def _one_number(value: Any) -> Any:
    """Some configs give one entry a layer where others give one number (`num_key_value_heads` of hybrids)."""
    if isinstance(value, list):
        numbers = [entry for entry in value if isinstance(entry, int) and entry > 0]
        return max(numbers) if numbers else None
    return value


Count = Annotated[int, Field(ge=0, le=10_000_000)] | None
Whole = Annotated[Count, BeforeValidator(_one_number)]
Size = Annotated[int, Field(ge=1, le=10_000_000)]
Layers = Annotated[int, Field(ge=1, le=10_000)]
"""No model comes near these; a config that says more would only fill the memory with layers."""


class HfConfig(BaseModel):
    """One language model's config. Unknown fields are kept out, missing ones are None."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())

    architectures: list[str] | None = None
    model_type: str | None = None
    torch_dtype: str | None = None
    dtype: str | None = None
    hidden_size: Size
    num_hidden_layers: Layers
    vocab_size: Size
    num_attention_heads: Whole = None
    num_key_value_heads: Whole = None
    head_dim: Whole = None
    intermediate_size: Whole = None
    tie_word_embeddings: bool = False
    quantization_config: dict[str, Any] | None = None
    # MLA
    q_lora_rank: Count = None
    kv_lora_rank: Count = None
    qk_rope_head_dim: Count = None
    qk_nope_head_dim: Count = None
    v_head_dim: Count = None
    # MoE, under the names that families use
    n_routed_experts: Count = None
    num_experts: Count = None
    num_local_experts: Count = None
    moe_num_experts: Whole = None
    num_experts_per_tok: Whole = None
    experts_per_token: Count = None
    moe_k: Count = None
    moe_topk: Whole = None
    n_shared_experts: Count = None
    num_shared_experts: Count = None
    shared_expert_intermediate_size: Count = None
    moe_intermediate_size: Whole = None
    intermediate_size_mlp: Count = None
    first_k_dense_replace: Count = None
    moe_layer_freq: int | list[int] | None = None
    decoder_sparse_step: Count = None
    mlp_only_layers: list[int] | None = None
    interleave_moe_layer_step: Count = None
    # Hybrids
    sliding_window: int | None = None
    layer_types: list[str] | None = None
    full_attention_interval: Count = None
    hybrid_override_pattern: str | None = None
    attn_type_list: list[int] | None = None
    attn_layer_period: Count = None
    attn_layer_offset: Count = None
    linear_attn_config: dict[str, Any] | None = None

    @property
    def weight_dtype(self) -> str | None:
        """dtype of what is not quantised; newer configs call it `dtype`."""
        return self.torch_dtype or self.dtype


def language_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The language model's own config out of a multimodal wrapper; the wrapper's fields serve where it has none."""
    flat = dict(config)
    for key in _NESTED:
        inner = flat.get(key)
        if isinstance(inner, Mapping) and ("hidden_size" in inner or any(name in inner for name in _NESTED)):
            own = {name: value for name, value in inner.items() if value is not None}
            return language_config({**{name: value for name, value in flat.items() if name not in _NESTED}, **own})
    return flat
