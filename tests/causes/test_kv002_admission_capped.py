"""KV002: requests wait at the cap while KV is free, against every other reason to wait."""

from ppagent.causes.kv002_admission_capped import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

AT_THE_CAP = {
    "args.pp_size": 1,
    "internal.max_running_requests": 32,
    "decode.running_req.p95": 32,
    "decode.queue_req.mean": 20.0,
    "decode.queue_req.max": 40,
    "decode.queue_share": 0.95,
    "decode.token_usage.max": 0.22,
}


def test_running_at_the_cap_with_a_queue_and_free_kv_supports_it() -> None:
    judgement = judged(CAUSE, AT_THE_CAP)
    assert judgement.state == "supported"
    assert "cap 32" in judgement.because[0].says


def test_the_cap_is_raised_to_what_runs_and_waits() -> None:
    assert CAUSE.advise(facts_of(AT_THE_CAP)).remedies[0].change.set == {"--max-running-requests": "72"}


def test_the_cap_is_not_raised_above_what_the_pool_would_hold() -> None:
    remedies = CAUSE.advise(facts_of({**AT_THE_CAP, "decode.token_usage.max": 0.6})).remedies
    assert remedies[0].change.set == {"--max-running-requests": "48"}


def test_one_below_the_cap_of_each_dp_rank_counts_as_at_the_cap() -> None:
    values = {
        "args.pp_size": 1,
        "args.dp_size": 8,
        "launch.max_running_requests": 128,
        "decode.running_req.p95": 15,
        "decode.queue_req.mean": 1.0,
        "decode.queue_share": 0.9,
        "decode.token_usage.max": 0.3,
    }
    assert judged(CAUSE, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--max-running-requests": "136"}


def test_under_a_pipeline_slots_at_the_default_limit_mean_that_the_cap_binds() -> None:
    values = {
        "args.pp_size": 8,
        "internal.max_running_requests": 16,
        "internal.slot_limit": 2,
        "decode.running_req.p95": 2,
        "decode.queue_req.mean": 30,
        "decode.queue_share": 1.0,
        "decode.token_usage.max": 0.05,
    }
    assert judged(CAUSE, values).state == "supported"


def test_a_slot_limit_below_the_cap_is_the_slot_limits_fault() -> None:
    values = {
        "args.pp_size": 8,
        "args.pp_max_micro_batch_size": 1,
        "internal.max_running_requests": 2048,
        "internal.slot_limit": 1,
        "decode.running_req.p95": 1,
        "decode.queue_req.mean": 24,
        "decode.queue_share": 1.0,
        "decode.token_usage.max": 0.05,
        "bench.levels": [level(32, 120)],
    }
    judgement = judged(CAUSE, values)
    assert judgement.state == "refuted"
    assert any("a slot may hold 1 request, and 8 slots" in o.says for o in judgement.against)


def test_a_full_pool_is_no_cap() -> None:
    assert judged(CAUSE, {**AT_THE_CAP, "decode.token_usage.max": 0.99}).state == "refuted"


def test_a_queue_far_below_the_cap_has_another_reason() -> None:
    assert judged(CAUSE, {**AT_THE_CAP, "decode.running_req.p95": 12}).state == "refuted"


def test_the_cap_that_speculation_sets_is_left_to_sp002() -> None:
    values = {
        **AT_THE_CAP,
        "launch.command": "python -m sglang.launch_server --speculative-algorithm EAGLE",
        "launch.speculative_algorithm": "EAGLE",
        "args.max_running_requests": 48,
        "internal.max_running_requests": 48,
        "decode.running_req.p95": 48,
    }
    judgement = judged(CAUSE, values)
    assert judgement.state != "supported"
    assert any("nobody asked" in o.says for o in judgement.against)


def test_no_queue_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_an_unknown_cap_cannot_be_told_and_asks_the_server() -> None:
    values = {k: v for k, v in AT_THE_CAP.items() if k != "internal.max_running_requests"}
    judgement = judged(CAUSE, values)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "http.info"


def test_without_decode_lines_the_queue_is_asked_for() -> None:
    judgement = judged(CAUSE, {"internal.max_running_requests": 32})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.decode"
