"""The case most tests rest on: a Kimi-K2-class model, eight stages, three measured levels; and the recorded labs."""

from typing import Any

from ppagent.model.architecture import Architecture, read_architecture
from ppagent.model.hardware import Card, find_card
from ppagent.model.levels import Level, level_from_throughput, levels_from_bench
from ppagent.model.ring import Ring, Stage
from ppagent.model.roofline import Roofline
from ppagent.model.whatif import Server, Settings

DEFAULT_SPLIT = (7, 7, 7, 8, 8, 8, 8, 8)
HEAD_AWARE_SPLIT = (8, 8, 8, 8, 8, 8, 8, 5)

QUANTISED_EXPERTS = {
    "quant_method": "compressed-tensors",
    "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True}}},
    "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
}
KIMI_TEXT: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "n_routed_experts": 384,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 1,
    "intermediate_size": 18432,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "vocab_size": 163840,
    "max_position_embeddings": 262144,
    "quantization_config": QUANTISED_EXPERTS,
}
KIMI: dict[str, Any] = {"model_type": "kimi_k25", "text_config": KIMI_TEXT, "vision_config": {"hidden_size": 1152}}

LLAMA_8B: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "torch_dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}

SEED_LEVELS = tuple(level_from_throughput(at, rate) for at, rate in ((1, 24.7), (4, 68.3), (8, 95.6)))

# Eight stages of 40 + 8 ms on the real scheduler with an emulated asynchronous device, 200 ms of think time.
LAB_ASYNC = (
    {"max_concurrency": 1, "think_time_s": 0.2, "output_throughput": 2.43, "mean_itl_ms": 388.47},
    {"max_concurrency": 4, "think_time_s": 0.2, "output_throughput": 6.68, "mean_itl_ms": 541.22},
    {"max_concurrency": 8, "think_time_s": 0.2, "output_throughput": 9.0, "mean_itl_ms": 805.57},
)
LAB_ASYNC_LIMIT_1 = 19.15
# Eight stages, bursts of 8 that fall 1 + 7 into two slots; the device blocks the CPU.
LAB_BURSTS = (
    {"max_concurrency": 1, "output_throughput": 2.3, "mean_itl_ms": 433.62},
    {"max_concurrency": 4, "output_throughput": 6.93, "mean_itl_ms": 575.7},
    {"max_concurrency": 8, "output_throughput": 10.8, "mean_itl_ms": 755.34},
)
LAB_BURSTS_LIMIT_1 = 14.0
LAB_BURSTS_OF_16 = {1: 12.9, 2: 23.7}
"""tok/s by slot limit: 8 of the 16 queue under limit 1, none under limit 2."""
# Four stages that were started with limit 2.
LAB_LIMIT_2 = (
    {"max_concurrency": 1, "output_throughput": 3.28, "mean_itl_ms": 285.47},
    {"max_concurrency": 4, "output_throughput": 11.7, "mean_itl_ms": 323.4},
    {"max_concurrency": 8, "output_throughput": 21.17, "mean_itl_ms": 353.21},
)
LAB_LIMIT_2_AT_LIMIT_1 = 12.23


def kimi() -> Architecture:
    return read_architecture(KIMI)


def rtx_pro_6000() -> Card:
    card = find_card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition")
    assert card is not None
    return card


def kimi_roofline() -> Roofline:
    return Roofline(kimi(), rtx_pro_6000())


def equal_ring(
    stages: int,
    base_ms: float,
    per_request_ms: float = 0.0,
    *,
    host_ms: float = 0.0,
    hop_ms: float = 0.0,
    return_ms: float = 0.0,
    async_depth: int = 0,
) -> Ring:
    """Equal stages; the times are those of one of them."""
    return Ring((Stage(base_ms, per_request_ms, host_ms),) * stages, hop_ms, return_ms, stages + async_depth)


def seed_server(split: tuple[int, ...] = DEFAULT_SPLIT) -> Server:
    return Server(SEED_LEVELS, 8, Settings(graph=False, split=split), kimi_roofline())


def lab(rows: tuple[dict[str, float], ...]) -> tuple[Level, ...]:
    return levels_from_bench(rows)
