"""KR001-KR003: attention backends, untuned experts, formats that take slow kernels."""

import pytest
from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.kernel_gap import bandwidth_gap, measured_gain
from ppagent.evidence.evidence import FactValue

KR001, KR002, KR003 = cause_of("KR001"), cause_of("KR002"), cause_of("KR003")

RTX_PRO: dict[str, FactValue] = {"gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell Server Edition"}}
HOPPER: dict[str, FactValue] = {"gpu.names": {"0": "NVIDIA H100 80GB HBM3"}}
PLAIN: dict[str, FactValue] = {"model.architectures": ["Qwen3ForCausalLM"]}
MLA: dict[str, FactValue] = {"model.architectures": ["DeepseekV3ForCausalLM"], "model.kv_lora_rank": 512}

# A 1T model with 384 experts in 4 bits, shared expert and attention in 16.
KIMI: dict[str, FactValue] = MLA | {
    "model.hidden_size": 7168,
    "model.num_hidden_layers": 61,
    "model.vocab_size": 163840,
    "model.num_attention_heads": 64,
    "model.q_lora_rank": 1536,
    "model.qk_nope_head_dim": 128,
    "model.qk_rope_head_dim": 64,
    "model.v_head_dim": 128,
    "model.intermediate_size": 18432,
    "model.moe_intermediate_size": 2048,
    "model.n_routed_experts": 384,
    "model.num_experts_per_tok": 8,
    "model.n_shared_experts": 1,
    "model.first_k_dense_replace": 1,
    "model.quantization_config": {
        "quant_method": "compressed-tensors",
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*"],
        "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
    },
}


def backend(name: str) -> dict[str, FactValue]:
    return {"args.attention_backend": name, "args.device": "cuda"}


def test_pytorch_s_own_attention_on_a_card_is_unsuitable() -> None:
    values = backend("torch_native") | HOPPER | PLAIN
    assert judged(KR001, values).state == "supported"
    assert KR001.advise(facts_of(values)).remedies[0].change.set == {"--attention-backend": "fa3"}


def test_it_is_normal_without_a_card() -> None:
    cpu: dict[str, FactValue] = {"args.attention_backend": "torch_native", "args.device": "cpu"}
    for cause in (KR001, KR002, KR003):
        judgement = judged(cause, cpu | {"trouble.moe_default_config": 1})
        assert judgement.state == "refuted" and not judgement.probes


def test_triton_for_mla_on_an_rtx_pro_is_the_default_and_no_fault() -> None:
    assert judged(KR001, backend("triton") | RTX_PRO | MLA).state == "refuted"


def test_triton_for_plain_attention_on_hopper_is_a_suspicion_that_an_experiment_decides() -> None:
    judgement = judged(KR001, backend("triton") | HOPPER | PLAIN)
    assert judgement.state == "cannot_tell" and judgement.because
    assert judgement.probes[0].grade == 5 and "fa3" in judgement.probes[0].why


def test_a_fallback_with_another_backend_than_asked_adds_to_it() -> None:
    values = {"launch.attention_backend": "fa3"} | backend("triton") | HOPPER | PLAIN
    judgement = judged(KR001, values)
    assert judgement.state == "supported" and any("fa3 was asked for" in o.says for o in judgement.because)


def test_a_launch_that_names_no_backend_leaves_it_to_the_version() -> None:
    assert judged(KR001, {"launch.command": "sglang serve m", "launch.tp_size": 2}).state == "refuted"


def test_without_the_card_the_backend_cannot_be_judged() -> None:
    judgement = judged(KR001, backend("triton") | PLAIN)
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "gpu.samples"


WARNED: dict[str, FactValue] = {
    "start.weights_gib": {"TP0": 20.0},
    "model.num_hidden_layers": 48,
    "model.num_experts": 128,
    "trouble.moe_default_config": 4,
    "trouble.moe_default_config.file": "/x/configs/E=128,N=768,device_name=NVIDIA_RTX_PRO_6000.json",
}


def comparison(before: float, after: float, **change: FactValue) -> FactValue:
    return [{"before": before, "after": after, "noise_share": 0.01, **change}]


def test_the_moe_warning_alone_is_never_enough() -> None:
    judgement = judged(KR002, WARNED)
    assert judgement.state == "cannot_tell" and judgement.probes[0].grade == 5


def test_the_warning_with_a_measured_gain_is() -> None:
    measured = WARNED | {"trial.comparisons": comparison(1000, 1095, what="tuned MoE kernel file")}
    assert judged(KR002, measured).state == "supported"
    assert "E=128,N=768" in KR002.advise(facts_of(measured)).remedies[0].title


def test_a_gain_within_the_noise_does_not_count() -> None:
    level_off = WARNED | {"trial.comparisons": comparison(1000, 1005, what="tuned MoE kernel file")}
    assert judged(KR002, level_off).state != "supported"


def test_a_model_without_experts_or_a_start_without_the_warning_refutes_it() -> None:
    dense: dict[str, FactValue] = {"model.architectures": ["LlamaForCausalLM"], "model.num_hidden_layers": 32}
    assert judged(KR002, dense | {"trouble.moe_default_config": 1}).state == "refuted"
    assert judged(KR002, {"start.weights_gib": {"TP0": 20.0}, "model.num_experts": 128}).state == "refuted"


def served(tokens_per_s: float, kv: str) -> dict[str, FactValue]:
    return (
        RTX_PRO
        | KIMI
        | {
            "args.tp_size": 8,
            "args.pp_size": 1,
            "args.kv_cache_dtype": kv,
            "args.device": "cuda",
            "decode.graph_true_share": 1.0,
            "bench.levels": [level(1, tokens_per_s)],
        }
    )


def test_fp8_kv_on_an_int4_checkpoint_far_from_the_memory_s_limit_is_the_slow_path() -> None:
    slow = served(16, "fp8_e4m3")
    judgement = judged(KR003, slow)
    assert judgement.state == "supported" and judgement.confidence > 0.8
    assert KR003.advise(facts_of(slow)).remedies[0].change.set == {"--kv-cache-dtype": "bf16"}


def test_the_combination_alone_is_not_enough() -> None:
    unmeasured = served(16, "fp8_e4m3")
    del unmeasured["bench.levels"]
    judgement = judged(KR003, unmeasured)
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "bench.results"


def test_a_gap_without_a_known_slow_kernel_is_not_enough() -> None:
    assert judged(KR003, served(16, "auto")).state != "supported"


def test_eager_decoding_makes_gaps_of_its_own() -> None:
    assert bandwidth_gap(facts_of(served(16, "fp8_e4m3") | {"decode.graph_true_share": 0.0})) is None
    gap = bandwidth_gap(facts_of(served(90, "auto")))
    assert gap is not None and 3 < gap.value < 7


@pytest.mark.parametrize(
    ("version", "set_", "env"),
    [
        ("0.5.2", {}, {"SGLANG_SUPPORT_CUTLASS_BLOCK_FP8": "1"}),
        ("0.5.10", {"--fp8-gemm-backend": "cutlass"}, {}),
    ],
)
def test_fp8_block_weights_get_cutlass_as_the_version_spells_it(
    version: str, set_: dict[str, str], env: dict[str, str]
) -> None:
    values = RTX_PRO | {
        "engine.version": version,
        "model.num_hidden_layers": 48,
        "model.quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "args.tp_size": 2,
        "trial.comparisons": comparison(2011, 4121, env={"SGLANG_SUPPORT_CUTLASS_BLOCK_FP8": "1"}),
    }
    assert judged(KR003, values).state == "supported"
    change = KR003.advise(facts_of(values)).remedies[0].change
    assert dict(change.set) == set_ and dict(change.env) == env


def test_later_versions_take_cutlass_by_themselves() -> None:
    values = RTX_PRO | {
        "engine.version": "0.5.23",
        "model.num_hidden_layers": 48,
        "model.quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "args.tp_size": 2,
    }
    judgement = judged(KR003, values)
    assert not judgement.because


def test_a_model_in_16_bits_has_no_quantised_path() -> None:
    plain = PLAIN | {"model.num_hidden_layers": 36, "args.tp_size": 1, "args.model_path": "m"}
    assert judged(KR003, plain).state == "refuted"


def test_the_largest_gain_of_the_named_setting_counts() -> None:
    rows: FactValue = [
        {"before": 10, "after": 11, "set": {"--kv-cache-dtype": "bf16"}},
        {"before": 10, "after": 50, "set": {"--kv-cache-dtype": "bf16"}, "unset": ["--enable-mixed-chunk"]},
        {"before": 10, "after": 90, "set": {"--tp-size": "8"}},
        {"before": 0, "after": 90, "set": {"--kv-cache-dtype": "bf16"}},
    ]
    gain = measured_gain(facts_of({"trial.comparisons": rows}), "kv-cache-dtype")
    assert gain is not None and gain.value == pytest.approx(5)
