"""PP009: stages with too little work, or NVLink left unused."""

from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.weights import cards_needed
from ppagent.evidence.evidence import FactValue

PP009 = cause_of("PP009")


def per_stage(gib: float, stages: int = 8) -> dict[str, FactValue]:
    return {f"PP{stage}": gib for stage in range(stages)}


SMALL: dict[str, FactValue] = {
    "args.pp_size": 8,
    "args.tp_size": 1,
    "start.weights_gib": per_stage(2.0),
    "gpu.memory_total_mib": {str(gpu): 81920 for gpu in range(8)},
}


def test_a_model_that_fits_one_card_wants_replicas_instead_of_eight_stages() -> None:
    judgement = judged(PP009, SMALL)
    assert judgement.state == "supported" and "1 card with room for KV" in judgement.because[0].says
    assert PP009.advise(facts_of(SMALL)).remedies[0].change.set == {"--dp-size": "8", "--pp-size": "1"}


def test_nvlink_with_a_small_model_wants_tensor_parallelism() -> None:
    values = {
        "args.pp_size": 4,
        "args.tp_size": 1,
        "start.weights_gib": per_stage(6.2, 4),
        "gpu.names": {"0": "NVIDIA A100-SXM4-40GB"},
        "gpu.nvlink": True,
        "gpu.link_worst": "NV12",
        "model.num_attention_heads": 40,
    }
    assert judged(PP009, values).state == "supported"
    assert PP009.advise(facts_of(values)).remedies[0].change.set == {"--tp-size": "4", "--pp-size": "1"}


def test_weights_that_need_the_stages_refute_it() -> None:
    large = SMALL | {"start.weights_gib": per_stage(66.0), "gpu.link_worst": "SYS"}
    assert judged(PP009, large).state == "refuted"


def test_a_stage_a_node_is_the_right_axis() -> None:
    assert judged(PP009, SMALL | {"args.nnodes": 8, "gpu.nvlink": True}).state == "refuted"


def test_long_prompts_suit_a_pipeline_even_on_nvlink() -> None:
    long = {
        "args.pp_size": 4,
        "args.tp_size": 1,
        "gpu.nvlink": True,
        "gpu.link_worst": "NV18",
        "start.weights_gib": per_stage(60.0, 4),
        "gpu.memory_total_mib": {"0": 81920},
        "bench.levels": [level(4, 50, input_len=131072)],
    }
    assert judged(PP009, long).state != "supported"


def test_one_stage_is_no_pipeline_and_a_cpu_no_case() -> None:
    assert judged(PP009, SMALL | {"args.pp_size": 1}).state == "refuted"
    assert not judged(PP009, SMALL | {"args.device": "cpu"}).because


def test_without_weights_and_topology_the_probes_ask_for_them() -> None:
    judgement = judged(PP009, {"args.pp_size": 8, "args.tp_size": 1})
    assert judgement.state == "cannot_tell"
    assert {probe.tool for probe in judgement.probes} == {"logs.startup", "gpu.topology"}


def test_weights_are_counted_from_the_config_where_the_log_is_cut() -> None:
    needed = cards_needed(
        facts_of(
            {
                "stated.gpu_model": "8x H100 80GB",
                "model.architectures": ["LlamaForCausalLM"],
                "model.hidden_size": 4096,
                "model.num_hidden_layers": 32,
                "model.vocab_size": 128256,
                "model.num_attention_heads": 32,
                "model.num_key_value_heads": 8,
                "model.intermediate_size": 14336,
            }
        )
    )
    assert needed is not None and needed.value == 1 and "about 15 GiB" in needed.says
