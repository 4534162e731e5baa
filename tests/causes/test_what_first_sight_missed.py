"""Signals that incidents seen for the first time needed: each kind with its look-alike."""

import pytest
from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.said import unexplained_gap

OVER_PCIE = {
    "args.tp_size": 8,
    "gpu.nvlink": False,
    "gpu.link_worst": "SYS",
    "gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell Server Edition"},
    "host.cpu_model": "AMD EPYC 9575F 64-Core Processor",
}


def test_a_link_that_nccl_takes_for_a_tenth_of_a_gigabyte_is_a_badly_tuned_nccl() -> None:
    told = {"trouble.nccl_assumed_bandwidth": 1, "trouble.nccl_assumed_bandwidth.gb_per_s": "0.1"}
    assert judged(cause_of("IC006"), OVER_PCIE | told).state == "supported"
    fair = told | {"trouble.nccl_assumed_bandwidth.gb_per_s": "48.0"}
    assert judged(cause_of("IC006"), OVER_PCIE | fair).state != "supported"


@pytest.mark.parametrize(("average", "state"), [("0.338", "supported"), ("0.93", "refuted")])
def test_balancedness_in_the_log_counts_like_the_metric(average: str, state: str) -> None:
    values = {
        "args.ep_size": 8,
        "args.tp_size": 8,
        "model.n_routed_experts": 256,
        "trouble.expert_balancedness": 9,
        "trouble.expert_balancedness.average": average,
    }
    assert judged(cause_of("LB003"), values).state == state


def test_a_slow_stage_that_changes_all_the_time_on_two_sockets_is_a_missing_binding() -> None:
    host = {"host.numa_nodes": 2, "engine.version": "0.5.12"}
    wanders = host | {"stated.sentences": ["Every time I look a different stage is the slow one."]}
    stays = host | {"stated.sentences": ["Stage 3 is always the slow one."]}
    assert judged(cause_of("CP003"), wanders).state == "supported"
    assert judged(cause_of("CP003"), stays).state != "supported"


def test_a_prefill_measurement_is_no_prefill_dominated_workload() -> None:
    only = {"bench.levels": [level(1, 4, input_len=8970, output_len=1)], "prefill.share_of_lines": 1.0}
    mixed = {
        "bench.levels": [level(16, 120, input_len=14000, output_len=60)],
        "prefill.share_of_lines": 0.97,
        "prefill.tokens_per_line.mean": 7000,
    }
    assert judged(cause_of("PR001"), only).state != "supported"
    assert judged(cause_of("PR001"), mixed).state == "supported"


def test_a_speed_that_agrees_does_not_clear_a_time_to_first_token_without_streaming() -> None:
    values = {
        "bench.levels": [level(128, 3256, mean_ttft_ms=37340, mean_e2e_latency_ms=37350, streamed=False)],
        "decode.lines": 100,
        "decode.throughput.p50": 3400,
        "decode.throughput.p95": 3500,
        "stated.sentences": ["mean TTFT is 39 s"],
    }
    assert judged(cause_of("ME001"), values).state == "supported"


def test_another_backend_that_was_measured_faster_proves_the_present_one_unsuitable() -> None:
    hopper = {
        "args.attention_backend": "triton",
        "gpu.names": {"0": "NVIDIA H100 80GB HBM3"},
        "model.architectures": ["LlamaForCausalLM"],
    }
    trial = {"trial.comparisons": [{"set": {"--attention-backend": "fa3"}, "before": 405, "after": 612}]}
    assert judged(cause_of("KR001"), hopper).state == "cannot_tell"
    judgement = judged(cause_of("KR001"), hopper | trial)
    assert judgement.state == "supported"
    assert judgement.cause.advise(facts_of(hopper | trial)).remedies[0].change.set == {"--attention-backend": "fa3"}


def test_all_reduces_are_not_judged_on_a_server_that_never_started() -> None:
    spinning = OVER_PCIE | {
        "gpu.utilization": {str(k): 99 for k in range(8)},
        "gpu.power_w": {str(k): 87 for k in range(8)},
        "gpu.power_limit_w": {str(k): 600 for k in range(8)},
    }
    assert judged(cause_of("IC001"), spinning | {"decode.lines": 50}).state == "supported"
    assert judged(cause_of("IC001"), spinning).state == "open", "cards that hang look the same"
    refused = judged(cause_of("IC001"), spinning | {"trouble.flag_unrecognized": 1})
    assert refused.because == refused.against == ()


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("DeepEP gives 2,033 tok/s, plain TP8 3,002 at 128 concurrent.", True),
        ("270 tok/s at 16 users instead of 480 tok/s.", True),
        ("We get 500 tok/s, others report 520 tok/s.", False),
        ("It runs at 500 tok/s.", False),
    ],
)
def test_two_speeds_set_against_each_other_are_a_complaint(question: str, gap: bool) -> None:
    assert unexplained_gap(facts_of({"stated.question": question})) is gap


def test_batches_that_are_all_above_the_captured_sizes_need_no_graph_step_to_show_it() -> None:
    values = {
        "args.cuda_graph_max_bs": 32,
        "start.graph_sizes": [1, 2, 4, 8, 16, 32],
        "launch.command": "python -m sglang.launch_server",
        "decode.lines": 80,
        "decode.running_req.p50": 79,
        "decode.running_req.p95": 96,
        "decode.graph_true_share": 0.0,
    }
    assert judged(cause_of("CG002"), values | {"decode.graph_false_running_min": 40}).state == "supported"
    assert judged(cause_of("CG002"), values | {"decode.graph_false_running_min": 9}).state != "supported"


@pytest.mark.parametrize(("role", "state"), [("null", "supported"), ("decode", "refuted"), ("prefill", "refuted")])
def test_long_prompts_starve_no_decoding_where_prefill_has_nodes_of_its_own(role: str, state: str) -> None:
    values = {
        "args.disaggregation_mode": role,
        "bench.levels": [level(16, 120, input_len=14000, output_len=60)],
        "prefill.share_of_lines": 0.97,
        "prefill.tokens_per_line.mean": 7000,
    }
    assert judged(cause_of("PR001"), values).state == state
