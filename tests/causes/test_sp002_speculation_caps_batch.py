"""SP002: the cap of 48 that nobody asked for."""

from ppagent.causes.kv002_admission_capped import CAUSE as KV002
from ppagent.causes.sp002_speculation_caps_batch import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

CAPPED = {
    "args.pp_size": 1,
    "args.speculative_algorithm": "EAGLE",
    "args.max_running_requests": 48,
    "launch.command": "python -m sglang.launch_server --speculative-algorithm EAGLE",
    "launch.speculative_algorithm": "EAGLE",
    "decode.running_req.p95": 48,
    "decode.queue_req.mean": 80.0,
    "decode.queue_req.max": 80,
    "decode.queue_share": 1.0,
    "decode.token_usage.max": 0.2,
}


def test_running_at_the_silent_48_with_a_queue_supports_it() -> None:
    assert judged(CAUSE, CAPPED).state == "supported"


def test_its_own_line_in_the_log_tells_it_as_well() -> None:
    values = {k: v for k, v in CAPPED.items() if not k.startswith("launch.")}
    assert judged(CAUSE, {**values, "trouble.spec_cap": 1}).state == "supported"


def test_a_cap_for_the_load_is_asked_for_and_dropping_speculation_is_an_alternative() -> None:
    remedies = CAUSE.advise(facts_of(CAPPED)).remedies
    assert remedies[0].change.set == {"--max-running-requests": "128"}
    assert remedies[1].alone and remedies[1].change.unset == ("--speculative-algorithm",)


def test_a_cap_of_the_users_own_is_admission_capped_instead() -> None:
    values = {**CAPPED, "launch.max_running_requests": 48}
    assert judged(CAUSE, values).state == "refuted"
    assert judged(KV002, values).state == "supported"


def test_no_queue_refutes_it() -> None:
    values = {**CAPPED, "decode.queue_share": 0.0, "decode.queue_req.mean": 0.0}
    assert judged(CAUSE, values).state == "refuted"


def test_a_full_pool_is_no_cap() -> None:
    assert judged(CAUSE, {**CAPPED, "decode.token_usage.max": 0.99}).state != "supported"


def test_each_dp_rank_gets_its_share_of_the_cap() -> None:
    values = {**CAPPED, "args.dp_size": 4, "decode.running_req.p95": 12, "decode.queue_req.mean": 5.0}
    assert judged(CAUSE, values).state == "supported"


def test_no_speculation_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_an_unseen_launch_is_asked_for() -> None:
    values = {k: v for k, v in CAPPED.items() if not k.startswith("launch.")}
    judgement = judged(CAUSE, values)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "server.launch"
