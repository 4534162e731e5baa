"""How each layer of a model mixes tokens: full attention, a window, or a state."""

from enum import StrEnum

from ppagent.model.hf_config import HfConfig


class Mixer(StrEnum):
    """How a layer mixes tokens; decides its KV cache."""

    FULL = "full attention"
    SLIDING = "sliding-window attention"
    STATE = "linear attention or state space"
    NONE = "no mixer"


def read_mixers(hf: HfConfig) -> tuple[Mixer, ...]:
    """The mixer of each layer, under any of the names that hybrid families give the pattern."""
    return tuple(_pattern(hf))[: hf.num_hidden_layers]


def _pattern(hf: HfConfig) -> list[Mixer]:
    count = hf.num_hidden_layers
    if hf.layer_types:
        return [_named_mixer(name) for name in hf.layer_types]
    if hf.hybrid_override_pattern:
        letters = {"M": Mixer.STATE, "*": Mixer.FULL}
        return [letters.get(letter, Mixer.NONE) for letter in hf.hybrid_override_pattern]
    if hf.attn_type_list:
        return [Mixer.FULL if kind == 1 else Mixer.STATE for kind in hf.attn_type_list]
    if hf.linear_attn_config and isinstance(hf.linear_attn_config.get("full_attn_layers"), list):
        full = set(hf.linear_attn_config["full_attn_layers"])  # counted from 1
        return [Mixer.FULL if index + 1 in full else Mixer.STATE for index in range(count)]
    if hf.full_attention_interval:
        every = hf.full_attention_interval
        return [Mixer.FULL if (index + 1) % every == 0 else Mixer.STATE for index in range(count)]
    if hf.attn_layer_period:
        offset = hf.attn_layer_offset or 0
        return [Mixer.FULL if index % hf.attn_layer_period == offset else Mixer.STATE for index in range(count)]
    return [Mixer.FULL] * count


def _named_mixer(name: str) -> Mixer:
    if "sliding" in name or "local" in name:
        return Mixer.SLIDING
    return Mixer.FULL if "full" in name or name == "attention" else Mixer.STATE
