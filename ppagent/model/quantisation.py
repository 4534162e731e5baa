"""Bytes a weight takes, part by part, from a checkpoint's `quantization_config`.

Which parts are quantised decides a batch-1 step more than the number of bits: in a 4-bit MoE checkpoint two thirds of
the traffic is what stayed in 16 bits (attention, shared expert, LM head).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Part(StrEnum):
    """The parts of a model that a checkpoint may store in different ways."""

    ATTENTION = "attention"
    DENSE_MLP = "dense mlp"
    ROUTED = "routed experts"
    SHARED = "shared experts"
    ROUTER = "router"
    EMBEDDING = "embedding"
    LM_HEAD = "lm head"


# A name that stands for each part when a config lists what it leaves unquantised.
_NAMES: Mapping[Part, str] = {
    Part.ATTENTION: "model.layers.1.self_attn.o_proj",
    Part.DENSE_MLP: "model.layers.0.mlp.gate_proj",
    Part.ROUTED: "model.layers.1.mlp.experts.0.gate_proj",
    Part.SHARED: "model.layers.1.mlp.shared_experts.gate_proj",
}
_DTYPE_BYTES: Mapping[str, float] = {
    "float32": 4.0,
    "float": 4.0,
    "bfloat16": 2.0,
    "float16": 2.0,
    "half": 2.0,
    "float8_e4m3fn": 1.0,
}


_REPEATED_GROUP = re.compile(r"\)[*+{]")
_MOST_REPEATS = 6


@dataclass(frozen=True)
class Quantisation:
    """Bytes per weight of each part. `name` is the method in words; `known` is False where it had to be guessed."""

    name: str
    bytes_of: Mapping[Part, float]
    known: bool = True


def dtype_bytes(dtype: str | None) -> float:
    """Bytes of one value of a torch dtype by name; 2 where it is not given."""
    return _DTYPE_BYTES.get((dtype or "bfloat16").removeprefix("torch."), 2.0)


def read_quantisation(config: Mapping[str, Any] | None, dtype: str | None) -> Quantisation:
    """The quantisation of a checkpoint whose `config.json` has `config` as its `quantization_config`."""
    plain = dtype_bytes(dtype)
    if not config:
        return Quantisation((dtype or "bfloat16").removeprefix("torch."), dict.fromkeys(Part, plain))
    if isinstance(config.get("quantization"), Mapping):
        config = {**config, **config["quantization"]}
    name, weight_bytes, parts = _method(config)
    if weight_bytes is None:
        return Quantisation(f"unknown ({name})", dict.fromkeys(Part, plain), known=False)
    kept = set(_kept_parts(_ignored(config)))
    bytes_of = {part: weight_bytes if part in parts and part not in kept else plain for part in Part}
    return Quantisation(name, bytes_of)


def grouped_bytes(bits: float, group: int, scale_bytes: float = 2.0, zero_point: bool = False) -> float:
    """Bytes per weight of `bits` in groups of `group` with one scale (and maybe one zero point) a group."""
    zero_bytes = bits / 8 if zero_point else 0.0
    return bits / 8 + (scale_bytes + zero_bytes) / group


def _method(config: Mapping[str, Any]) -> tuple[str, float | None, frozenset[Part]]:
    linear = frozenset(_NAMES)
    method = str(config.get("quant_method") or config.get("quant_algo") or "").lower()
    if "fp4" in str(config.get("quant_algo", "")).lower():
        method = "nvfp4"
    match method:
        case "fp8" | "fbgemm_fp8" | "w8a8_fp8" | "modelopt_fp8":
            return "fp8", 1.0, linear
        case "w8a8_int8" | "blockwise_int8":
            return "int8", 1.0, linear
        case "mxfp4":
            return "mxfp4", grouped_bytes(4, 32, 1.0), frozenset({Part.ROUTED})
        case "nvfp4" | "modelopt_fp4":
            return "nvfp4", grouped_bytes(4, 16, 1.0), linear
        case "modelopt":
            algorithm = str(config.get("quant_algo", "fp8")).lower()
            return (algorithm, 1.0, linear) if "fp8" in algorithm else (algorithm, None, linear)
        case "awq" | "gptq" | "awq_marlin" | "gptq_marlin" | "auto-round" | "moe_wna16":
            return _grouped_integer(method, config, linear)
        case "bitsandbytes":
            bits = 4 if config.get("load_in_4bit") else 8
            return f"bitsandbytes int{bits}", grouped_bytes(bits, 64), linear
        case "compressed-tensors":
            return _compressed(config, linear)
        case _:
            return method or "unnamed", None, linear


def _grouped_integer(
    method: str, config: Mapping[str, Any], parts: frozenset[Part]
) -> tuple[str, float | None, frozenset[Part]]:
    bits = _whole(config.get("bits") or config.get("w_bit"), 4)
    group = _whole(config.get("group_size") or config.get("q_group_size"), 128)
    if group <= 0:
        return f"{method} int{bits}", bits / 8, parts
    return f"{method} int{bits} g{group}", grouped_bytes(bits, group, zero_point=True), parts


def _compressed(config: Mapping[str, Any], parts: frozenset[Part]) -> tuple[str, float | None, frozenset[Part]]:
    groups = config.get("config_groups")
    groups = groups if isinstance(groups, Mapping) else {}
    weights = next((g.get("weights") for g in groups.values() if isinstance(g, Mapping) and g.get("weights")), None)
    if not isinstance(weights, Mapping):
        return "compressed-tensors", None, parts
    bits, kind = _whole(weights.get("num_bits"), 16), str(weights.get("type") or "int")
    group = _whole(weights.get("group_size"), 0)
    if group <= 0:
        return f"{kind}{bits}", bits / 8, parts
    scale_bytes = 1.0 if kind == "float" and bits == 4 else 2.0
    zero_point = weights.get("symmetric") is False
    return f"{kind}{bits} g{group}", grouped_bytes(bits, group, scale_bytes, zero_point), parts


def _whole(value: object, otherwise: int) -> int:
    """A whole number of a config, also where it stands as text; `otherwise` where there is none."""
    text = str(value).strip()
    return int(text) if re.fullmatch(r"-?\d{1,6}", text) else otherwise


def _ignored(config: Mapping[str, Any]) -> list[str]:
    for key in ("ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules", "llm_int8_skip_modules"):
        if isinstance(config.get(key), list):
            return [str(entry) for entry in config[key]]
    return []


def _kept_parts(ignored: Iterable[str]) -> Iterable[Part]:
    patterns = list(ignored)
    for part, name in _NAMES.items():
        if any(_matches(pattern, name) for pattern in patterns):
            yield part


def _matches(pattern: str, name: str) -> bool:
    if pattern.startswith("re:"):
        return _safe_match(pattern[3:], name)
    pattern = re.sub(r"layers\.\d+\.", "layers.*.", pattern)
    body = re.escape(pattern).replace(r"\*", ".*")
    return re.search(rf"(^|\.){body}($|\.)", name) is not None


def _safe_match(pattern: str, name: str) -> bool:
    """Whether a config's own expression matches. One that is none, or that repeats a group, which can take for ever,
    matches nothing."""
    if _REPEATED_GROUP.search(pattern) or len(re.findall(r"[*+{]", pattern)) > _MOST_REPEATS:
        return False
    try:
        return re.match(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False
