"""What a model is made of: parameters by part and KV values by layer, from its `config.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ppagent.errors import UserError
from ppagent.model.hf_config import HfConfig, language_config
from ppagent.model.mixers import Mixer, read_mixers
from ppagent.model.quantisation import Part, Quantisation, read_quantisation


@dataclass(frozen=True)
class Layer:
    """Parameters of one decoder layer. `expert` is one routed expert, of which a token uses `active`."""

    mixer: Mixer
    attention: int
    dense_mlp: int = 0
    expert: int = 0
    experts: int = 0
    active: int = 0
    shared: int = 0
    router: int = 0
    kv_values: int = 0

    def parameters(self) -> dict[Part, int]:
        """All parameters by part."""
        return {
            Part.ATTENTION: self.attention,
            Part.DENSE_MLP: self.dense_mlp,
            Part.ROUTED: self.expert * self.experts,
            Part.SHARED: self.shared,
            Part.ROUTER: self.router,
        }


@dataclass(frozen=True)
class Architecture:
    """A decoder-only model. `embedding` and `lm_head` are parameters; tied ones are stored once, read as a head.

    `notes` say what the counting leaves out or guesses, a clause each.
    """

    name: str
    layers: tuple[Layer, ...]
    embedding: int
    lm_head: int
    tied: bool
    mla: bool
    quantisation: Quantisation
    sliding_window: int | None = None
    notes: tuple[str, ...] = ()

    def parameters(self) -> dict[Part, int]:
        """All parameters by part, the head of tied weights not counted twice."""
        total = dict.fromkeys(Part, 0)
        for layer in self.layers:
            for part, count in layer.parameters().items():
                total[part] += count
        total[Part.EMBEDDING] = self.embedding
        total[Part.LM_HEAD] = 0 if self.tied else self.lm_head
        return total

    def weight_bytes(self) -> float:
        """Bytes of the whole checkpoint."""
        return sum(self.quantisation.bytes_of[part] * count for part, count in self.parameters().items())

    def layer_bytes(self, layer: Layer) -> float:
        """Bytes that `layer` takes in memory."""
        return sum(self.quantisation.bytes_of[part] * count for part, count in layer.parameters().items())

    def part_bytes(self, part: Part, parameters: int) -> float:
        """Bytes of `parameters` weights of `part`."""
        return self.quantisation.bytes_of[part] * parameters


def read_architecture(config: Mapping[str, Any]) -> Architecture:
    """The architecture a `config.json` describes. Raises UserError where it has no layers, width or vocabulary."""
    flat = language_config(config)
    try:
        hf = HfConfig.model_validate(flat)
    except ValidationError as error:
        fields = ", ".join(".".join(str(part) for part in problem["loc"]) for problem in error.errors())
        raise UserError(
            f"This model config cannot be read: {fields}.", "Give the config.json of a decoder-only language model."
        ) from error
    mixers = read_mixers(hf)
    layers = tuple(_layer(hf, index, mixer) for index, mixer in enumerate(mixers))
    quantisation = read_quantisation(hf.quantization_config, hf.weight_dtype)
    table = hf.vocab_size * hf.hidden_size
    return Architecture(
        name=hf.architectures[0] if hf.architectures else hf.model_type or "unnamed model",
        layers=layers,
        embedding=table,
        lm_head=table,
        tied=hf.tie_word_embeddings,
        mla=hf.kv_lora_rank is not None,
        quantisation=quantisation,
        sliding_window=hf.sliding_window if Mixer.SLIDING in mixers else None,
        notes=_notes(mixers, quantisation),
    )


def _layer(hf: HfConfig, index: int, mixer: Mixer) -> Layer:
    attention, kv_values = _attention(hf)
    if mixer in (Mixer.STATE, Mixer.NONE):
        kv_values = 0
    if mixer is Mixer.NONE:
        attention = 0
    experts = hf.n_routed_experts or hf.num_experts or hf.num_local_experts or hf.moe_num_experts or 0
    if not experts or not _is_moe_layer(hf, index):
        width = hf.intermediate_size_mlp or hf.intermediate_size or 4 * hf.hidden_size
        bare = bool(hf.hybrid_override_pattern) and mixer is not Mixer.NONE
        dense = 0 if bare else 3 * hf.hidden_size * width
        return Layer(mixer, attention, dense_mlp=dense, kv_values=kv_values)
    width = hf.moe_intermediate_size or hf.intermediate_size or hf.hidden_size
    active = hf.num_experts_per_tok or hf.experts_per_token or hf.moe_k or hf.moe_topk or 1
    if active > experts:
        raise UserError(
            f"This model config cannot be read: a token takes {active} of {experts} experts.",
            "Give the config.json of a decoder-only language model.",
        )
    return Layer(
        mixer,
        attention,
        expert=3 * hf.hidden_size * width,
        experts=experts,
        active=active,
        shared=3 * hf.hidden_size * _shared_width(hf, width),
        router=hf.hidden_size * experts,
        kv_values=kv_values,
    )


def _attention(hf: HfConfig) -> tuple[int, int]:
    """Parameters of the attention block and KV values a token leaves in it."""
    hidden, heads = hf.hidden_size, hf.num_attention_heads or 1
    if hf.kv_lora_rank is not None:
        rope, nope = hf.qk_rope_head_dim or 64, hf.qk_nope_head_dim or 128
        value = hf.v_head_dim or nope
        query = heads * (nope + rope)
        queries = hf.q_lora_rank * (hidden + query) if hf.q_lora_rank else hidden * query
        keys = hidden * (hf.kv_lora_rank + rope) + hf.kv_lora_rank * heads * (nope + value)
        return queries + keys + heads * value * hidden, hf.kv_lora_rank + rope
    head = hf.head_dim or hidden // heads
    kv_heads = hf.num_key_value_heads or heads
    value = hf.v_head_dim or head
    parameters = hidden * heads * head + hidden * kv_heads * (head + value) + heads * value * hidden
    return parameters, kv_heads * (head + value)


def _is_moe_layer(hf: HfConfig, index: int) -> bool:
    if index < (hf.first_k_dense_replace or 0) or index in (hf.mlp_only_layers or ()):
        return False
    if isinstance(hf.moe_layer_freq, list):
        return index < len(hf.moe_layer_freq) and bool(hf.moe_layer_freq[index])
    if hf.moe_layer_freq and hf.moe_layer_freq > 1:
        return index % hf.moe_layer_freq == 0
    step = hf.decoder_sparse_step or hf.interleave_moe_layer_step or 1
    return (index + 1) % step == 0


def _shared_width(hf: HfConfig, width: int) -> int:
    if hf.shared_expert_intermediate_size:
        return hf.shared_expert_intermediate_size
    return width * (hf.n_shared_experts or hf.num_shared_experts or 0)


def _notes(mixers: tuple[Mixer, ...], quantisation: Quantisation) -> tuple[str, ...]:
    notes = []
    if not quantisation.known:
        notes.append(f"quantisation not known: {quantisation.name}; weights counted in their stated dtype")
    if Mixer.STATE in mixers:
        notes.append("linear-attention or state-space layers: weights counted as attention's, state not counted")
    return tuple(notes)
