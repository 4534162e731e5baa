"""CG001-CG005: graphs asked off, forced off, outgrown, kept apart by ranks, and failing."""

import pytest
from builders import facts_of, healthy_server, judged, seed_case

from ppagent.causes.catalog import cause_of
from ppagent.causes.graphs import size_for

CEILING = {
    "args.tp_size": 1,
    "launch.command": "python -m sglang.launch_server --model m",
    "start.graph_sizes": [1, 2, 4, 8, 12, 16, 24, 32],
    "start.graph_captured": True,
    "start.ready": True,
    "decode.lines": 400,
    "decode.running_req.p50": 67,
    "decode.running_req.p95": 96,
    "decode.running_req.max": 103,
    "decode.graph_true_share": 0.1,
    "decode.graph_true_running_max": 32,
    "decode.graph_false_running_min": 33,
}


def test_a_flag_in_the_launch_and_eager_lines_are_graphs_switched_off() -> None:
    seed = seed_case() | {"launch.disable_cuda_graph": True}
    judgement = judged(cause_of("CG001"), seed)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(seed)).remedies
    assert remedy.change.unset == ("--disable-cuda-graph",)
    assert judged(cause_of("CG003"), seed).state == "refuted"


def test_graphs_in_use_refute_the_switch() -> None:
    assert judged(cause_of("CG001"), healthy_server()).state == "refuted"


@pytest.mark.parametrize("cause_id", ["CG001", "CG002", "CG003"])
def test_a_device_without_cuda_has_no_graph_to_miss(cause_id: str) -> None:
    cpu = {
        "args.device": "cpu",
        "args.disable_cuda_graph": True,
        "decode.graph_true_share": 0.0,
        "decode.graph_label": "cpu",
    }
    assert judged(cause_of(cause_id), cpu).state == "refuted"


def test_a_backend_that_switches_graphs_off_is_its_own_cause_and_is_dropped() -> None:
    forced = {
        "launch.command": "python -m sglang.launch_server --attention-backend torch_native",
        "launch.attention_backend": "torch_native",
        "args.attention_backend": "torch_native",
        "args.disable_cuda_graph": True,
        "trouble.graph_disabled": 1,
        "trouble.graph_disabled.reason": "using torch native attention backend",
        "decode.graph_true_share": 0.0,
    }
    judgement = judged(cause_of("CG003"), forced)
    assert judgement.state == "supported"
    assert judged(cause_of("CG001"), forced).state == "refuted"
    (remedy,) = judgement.cause.advise(facts_of(forced)).remedies
    assert remedy.change.unset == ("--attention-backend",)


def test_batches_that_outgrow_the_captured_sizes_are_told_from_graphs_off() -> None:
    judgement = judged(cause_of("CG002"), CEILING)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(CEILING)).remedies
    assert remedy.change.set == {"--cuda-graph-max-bs-decode": "128"}
    assert judged(cause_of("CG001"), CEILING).state == "refuted"
    assert judged(cause_of("CG002"), seed_case()).state == "refuted"


def test_batches_under_the_ceiling_refute_it() -> None:
    small = CEILING | {
        "decode.running_req.p50": 20,
        "decode.running_req.p95": 30,
        "decode.running_req.max": 31,
        "decode.graph_true_share": 1.0,
    }
    small = {k: v for k, v in small.items() if not k.startswith("decode.graph_false")}
    assert judged(cause_of("CG002"), small).state == "refuted"


def test_ranks_under_the_ceiling_whose_sum_is_above_it_disagree_on_graphs() -> None:
    ranks = {
        "args.dp_size": 8,
        "args.enable_dp_attention": True,
        "start.graph_sizes": [1, 2, 4, 8, 16, 32, 64, 128],
        "decode.running_req.p95": 52,
        "decode.graph_true_share": 0.05,
        "decode.by_dp": {f"DP{k}": {"running": 50, "queue": 0} for k in range(8)},
    }
    judgement = judged(cause_of("CG004"), ranks)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(ranks)).remedies
    assert remedy.change.set == {"--cuda-graph-max-bs-decode": "448"}
    assert judged(cause_of("CG004"), healthy_server()).state == "refuted"


def test_a_failed_capture_is_told_and_graphs_off_is_no_cure() -> None:
    failed = {
        "trouble.capture_failed": 1,
        "trouble.capture_failed.message": "CUDA out of memory",
        "start.graph_begun": True,
    }
    judgement = judged(cause_of("CG005"), failed)
    assert judgement.state == "supported"
    assert [d.lever for d in judgement.cause.advise(facts_of(failed)).declined] == ["--disable-cuda-graph"]


def test_decoding_that_goes_on_refutes_a_failed_capture() -> None:
    assert judged(cause_of("CG005"), CEILING).state == "refuted"
    assert judged(cause_of("CG005"), seed_case() | {"launch.disable_cuda_graph": True}).state == "refuted"


@pytest.mark.parametrize(("batch", "size"), [(1, 1), (9, 12), (103, 128), (512, 512), (513, 576)])
def test_the_size_that_covers_a_batch_is_a_round_one(batch: int, size: int) -> None:
    assert size_for(batch) == size


HUNG = {
    "args.nnodes": 2,
    "args.tp_size": 8,
    "start.ready": True,
    "start.graph_begun": True,
    "start.graph_captured": True,
    "start.graph_sizes": [1, 2, 4, 8],
    "decode.lines": 40,
    "decode.graph_true_share": 1.0,
    "log.ended_running": True,
}


def test_decoding_from_graphs_that_ends_without_a_word_over_two_nodes_is_a_captured_collective() -> None:
    judgement = judged(cause_of("CG005"), HUNG)
    assert judgement.state == "supported"
    through, layout = judgement.cause.advise(facts_of(HUNG)).remedies
    assert through.change.set == {"--cuda-graph-max-bs-decode": "1"}
    assert layout.kind == "operator"


def test_a_hang_that_an_error_explains_or_inside_one_node_is_not_put_on_the_graphs() -> None:
    assert judged(cause_of("CG005"), HUNG | {"trouble.nccl_error": 1}).state != "supported"
    assert judged(cause_of("CG005"), HUNG | {"args.nnodes": 1}).state != "supported"


def test_a_prefill_node_misses_no_decode_graph() -> None:
    prefill = {
        "args.disaggregation_mode": "prefill",
        "args.disable_cuda_graph": True,
        "launch.command": "sglang serve m",
    }
    assert judged(cause_of("CG003"), prefill).state == "refuted"
