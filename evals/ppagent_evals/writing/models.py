"""Models: what decides memory and layout, and the config.json that a recording may hold."""

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Model:
    """One checkpoint. Sizes in GiB as loaded; `kv_heads` 0 stands for latent attention (MLA, 576 values a token)."""

    path: str
    architecture: str
    layers: int
    weights_gib: float
    head_gib: float
    """LM head (and as much again for the embedding where they are not tied)."""
    kv_heads: int
    head_dim: int = 128
    context_len: int = 131072
    quant: str | None = None
    """As in the config's `quant_method`, with what the load line adds: `fp8, fmt=e4m3`."""
    dtype: str = "torch.bfloat16"
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def mla(self) -> bool:
        return self.kv_heads == 0


def _config(architecture: str, model_type: str, **values: object) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, **values, "torch_dtype": "bfloat16"}


_FP8_BLOCK = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}

_FP8_CHANNELS = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False},
            "input_activations": {"num_bits": 8, "type": "float", "strategy": "token", "dynamic": True},
        }
    },
}

QWEN3_8B = Model(
    "/models/Qwen3-8B", "Qwen3ForCausalLM", 36, 15.3, 1.16, 8, context_len=40960,
    config=_config("Qwen3ForCausalLM", "qwen3", hidden_size=4096, intermediate_size=12288, num_hidden_layers=36,
                   num_attention_heads=32, num_key_value_heads=8, head_dim=128, vocab_size=151936,
                   max_position_embeddings=40960, tie_word_embeddings=False),
)  # fmt: skip
LLAMA_8B = Model(
    "/models/Llama-3.1-8B-Instruct", "LlamaForCausalLM", 32, 15.0, 0.98, 8,
    config=_config("LlamaForCausalLM", "llama", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
                   num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                   max_position_embeddings=131072, tie_word_embeddings=False),
)  # fmt: skip
QWEN3_32B = Model(
    "/models/Qwen3-32B", "Qwen3ForCausalLM", 64, 61.0, 1.45, 8, context_len=40960,
    config=_config("Qwen3ForCausalLM", "qwen3", hidden_size=5120, intermediate_size=25600, num_hidden_layers=64,
                   num_attention_heads=64, num_key_value_heads=8, head_dim=128, vocab_size=151936,
                   max_position_embeddings=40960, tie_word_embeddings=False),
)  # fmt: skip
LLAMA_70B = Model(
    "/models/Llama-3.3-70B-Instruct", "LlamaForCausalLM", 80, 131.4, 1.96, 8,
    config=_config("LlamaForCausalLM", "llama", hidden_size=8192, intermediate_size=28672, num_hidden_layers=80,
                   num_attention_heads=64, num_key_value_heads=8, vocab_size=128256,
                   max_position_embeddings=131072, tie_word_embeddings=False),
)  # fmt: skip
LLAMA_70B_FP8 = Model(
    "/models/Llama-3.3-70B-Instruct-FP8", "LlamaForCausalLM", 80, 67.7, 1.96, 8, quant="compressed-tensors",
    config=_config("LlamaForCausalLM", "llama", hidden_size=8192, intermediate_size=28672, num_hidden_layers=80,
                   num_attention_heads=64, num_key_value_heads=8, vocab_size=128256, max_position_embeddings=131072,
                   tie_word_embeddings=False,
                   quantization_config=_FP8_CHANNELS),
)  # fmt: skip
QWEN3_30B_FP8 = Model(
    "/models/Qwen3-30B-A3B-FP8", "Qwen3MoeForCausalLM", 48, 29.2, 0.58, 4, context_len=40960, quant="fp8, fmt=e4m3",
    config=_config("Qwen3MoeForCausalLM", "qwen3_moe", hidden_size=2048, num_hidden_layers=48, num_attention_heads=32,
                   num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8,
                   moe_intermediate_size=768, vocab_size=151936, max_position_embeddings=40960,
                   tie_word_embeddings=False, quantization_config=_FP8_BLOCK),
)  # fmt: skip
QWEN3_235B_FP8 = Model(
    "/models/Qwen3-235B-A22B-Instruct-2507-FP8", "Qwen3MoeForCausalLM", 94, 220.4, 1.16, 4, context_len=262144,
    quant="fp8, fmt=e4m3",
    config=_config("Qwen3MoeForCausalLM", "qwen3_moe", hidden_size=4096, num_hidden_layers=94, num_attention_heads=64,
                   num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8,
                   moe_intermediate_size=1536, vocab_size=151936, max_position_embeddings=262144,
                   tie_word_embeddings=False, quantization_config=_FP8_BLOCK),
)  # fmt: skip
QWEN3_235B = Model(
    "/models/Qwen3-235B-A22B", "Qwen3MoeForCausalLM", 94, 438.2, 1.16, 4, context_len=40960,
    config=_config("Qwen3MoeForCausalLM", "qwen3_moe", hidden_size=4096, num_hidden_layers=94, num_attention_heads=64,
                   num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8,
                   moe_intermediate_size=1536, vocab_size=151936, max_position_embeddings=40960,
                   tie_word_embeddings=False),
)  # fmt: skip
DEEPSEEK_R1 = Model(
    "/models/DeepSeek-R1-0528", "DeepseekV3ForCausalLM", 61, 628.0, 1.73, 0, context_len=163840, quant="fp8, fmt=e4m3",
    config=_config("DeepseekV3ForCausalLM", "deepseek_v3", hidden_size=7168, intermediate_size=18432,
                   num_hidden_layers=61, first_k_dense_replace=3, n_routed_experts=256, n_shared_experts=1,
                   num_experts_per_tok=8, moe_intermediate_size=2048, num_attention_heads=128,
                   num_key_value_heads=128, q_lora_rank=1536, kv_lora_rank=512, qk_rope_head_dim=64,
                   qk_nope_head_dim=128, v_head_dim=128, vocab_size=129280, max_position_embeddings=163840,
                   tie_word_embeddings=False, quantization_config=_FP8_BLOCK),
)  # fmt: skip
KIMI_K25 = Model(
    "/models/Kimi-K2.5", "KimiK25ForConditionalGeneration", 61, 553.0, 2.19, 0, context_len=262144,
    quant="compressed-tensors",
    config={"architectures": ["KimiK25ForConditionalGeneration"], "model_type": "kimi_k25",
            "text_config": _config("DeepseekV3ForCausalLM", "kimi_k2", hidden_size=7168, intermediate_size=18432,
                                   num_hidden_layers=61, first_k_dense_replace=1, n_routed_experts=384,
                                   n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=2048,
                                   num_attention_heads=64, num_key_value_heads=64, q_lora_rank=1536,
                                   kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128,
                                   vocab_size=163840, max_position_embeddings=262144, tie_word_embeddings=False)},
)  # fmt: skip
MINIMAX_M25 = Model(
    "/models/MiniMax-M2.5", "MiniMaxM2ForCausalLM", 62, 214.0, 1.14, 8, context_len=196608, quant="fp8",
    config=_config("MiniMaxM2ForCausalLM", "minimax_m2", hidden_size=3072, num_hidden_layers=62,
                   num_attention_heads=48, num_key_value_heads=8, head_dim=128, num_local_experts=256,
                   num_experts_per_tok=8, intermediate_size=1536, vocab_size=200064, max_position_embeddings=196608,
                   tie_word_embeddings=False, quantization_config={"quant_method": "fp8"}),
)  # fmt: skip
GLM_5_FP8 = Model("/models/GLM-5-FP8", "GlmMoeDsaForCausalLM", 78, 705.0, 1.77, 0, context_len=202752, quant="fp8")
GLM_5_NVFP4 = Model(
    "/models/GLM-5-NVFP4", "GlmMoeDsaForCausalLM", 78, 431.0, 1.77, 0, context_len=202752, quant="modelopt_fp4"
)
DEEPSEEK_V4 = Model(
    "/models/DeepSeek-V4-Flash", "DeepseekV4ForCausalLM", 43, 152.0, 1.0, 0, context_len=131072, quant="fp8"
)
QWEN3_NEXT = Model(
    "/models/Qwen3-Next-80B-A3B-Instruct", "Qwen3NextForCausalLM", 48, 151.0, 0.58, 2, head_dim=256, context_len=262144
)
QWEN35_122B_FP8 = Model(
    "/models/Qwen3.5-122B-A10B-FP8", "Qwen3_5MoeForConditionalGeneration", 48, 119.0, 1.42, 2, head_dim=256,
    context_len=262144, quant="fp8, fmt=e4m3",
)  # fmt: skip
QWEN25_05B = Model(
    "/models/Qwen2.5-0.5B-Instruct", "Qwen2ForCausalLM", 24, 1.2, 0.25, 2, head_dim=64, context_len=32768,
    config=_config("Qwen2ForCausalLM", "qwen2", hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
                   num_attention_heads=14, num_key_value_heads=2, vocab_size=151936, max_position_embeddings=32768,
                   tie_word_embeddings=True),
)  # fmt: skip
QWEN3_06B = Model(
    "/models/Qwen3-0.6B", "Qwen3ForCausalLM", 28, 1.11, 0.29, 8, head_dim=128, context_len=40960,
    config=_config("Qwen3ForCausalLM", "qwen3", hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
                   num_attention_heads=16, num_key_value_heads=8, vocab_size=151936, max_position_embeddings=40960,
                   tie_word_embeddings=True),
)  # fmt: skip
QWEN3_32B_AWQ = replace(
    QWEN3_32B,
    path="/models/Qwen3-32B-AWQ",
    weights_gib=18.1,
    quant="awq, bits=4",
    dtype="torch.float16",
    config={**QWEN3_32B.config, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}},
)
GLM_52_NVFP4 = Model(
    "/models/GLM-5.2-NVFP4", "GlmMoeDsaForCausalLM", 78, 431.0, 1.77, 0, context_len=202752, quant="modelopt_fp4"
)
QWEN36_27B_FP8 = Model(
    "/models/Qwen3.6-27B-FP8", "Qwen3_6ForConditionalGeneration", 64, 28.4, 1.16, 4, head_dim=256, context_len=262144,
    quant="fp8, fmt=e4m3",
)  # fmt: skip
