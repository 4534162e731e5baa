"""KV003: requested is not effective, and what holds the cap down."""

from ppagent.causes.kv001_pool_exhausted import CAUSE as KV001
from ppagent.causes.kv002_admission_capped import CAUSE as KV002
from ppagent.causes.kv003_cap_reduced_at_start import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

FELT = {
    "decode.queue_req.mean": 100.0,
    "decode.queue_share": 1.0,
    "decode.token_usage.max": 0.4,
    "args.pp_size": 1,
}
REDUCED = {
    **FELT,
    "engine.version": "0.5.10",
    "launch.command": "python -m sglang.launch_server --max-running-requests 4096",
    "launch.max_running_requests": 4096,
    "start.max_running_requests": 2048,
    "start.max_total_tokens": 400000,
    "start.context_len": 131072,
    "decode.running_req.p95": 2048,
}


def test_a_cap_below_the_requested_one_that_is_run_into_supports_it() -> None:
    judgement = judged(CAUSE, REDUCED)
    assert judgement.state == "supported"
    assert any("4096 requested, 2048 in force" in o.says for o in judgement.because)


def test_the_context_is_shortened_where_tokens_over_context_binds() -> None:
    assert CAUSE.advise(facts_of(REDUCED)).remedies[0].change.set == {"--context-length": "49920"}


def test_a_newer_version_does_not_bind_a_request_by_the_context() -> None:
    remedies = CAUSE.advise(facts_of({**REDUCED, "engine.version": "0.5.15"})).remedies
    assert all("--context-length" not in remedy.change.set for remedy in remedies)


def test_a_hybrid_models_state_cache_is_made_larger() -> None:
    values = {
        **FELT,
        "trouble.cap_reduced": 1,
        "trouble.cap_reduced.to": "48",
        "launch.max_running_requests": 96,
        "start.max_running_requests": 48,
        "decode.running_req.p95": 48,
    }
    assert judged(CAUSE, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--mamba-full-memory-ratio": "1.8"}


def test_raising_the_flag_is_declined() -> None:
    assert CAUSE.advise(facts_of(REDUCED)).declined[0].lever == "--max-running-requests"


def test_a_requested_cap_is_held_against_one_dp_ranks_share() -> None:
    values = {
        "args.dp_size": 8,
        "args.pp_size": 1,
        "launch.max_running_requests": 128,
        "internal.max_running_requests": 16,
        "decode.queue_share": 0.9,
        "decode.queue_req.mean": 1.0,
    }
    assert judged(CAUSE, values).state == "refuted"


def test_a_reduced_cap_that_nothing_reaches_is_no_finding() -> None:
    values = {**REDUCED, "decode.queue_share": 0.0, "decode.queue_req.mean": 0.0, "decode.running_req.p95": 64}
    judgement = judged(CAUSE, values)
    assert judgement.state != "supported"
    assert any("not felt" in o.says for o in judgement.against)


def test_without_a_requested_cap_none_was_reduced() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_an_unknown_effective_cap_is_asked_for() -> None:
    judgement = judged(CAUSE, {"launch.max_running_requests": 512})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.startup"


def test_the_capped_admission_it_leads_to_holds_beside_it_and_the_pool_does_not() -> None:
    assert judged(KV002, REDUCED).state == "supported"
    assert judged(KV001, REDUCED).state == "refuted"


def test_the_servers_arguments_keep_what_was_asked_for() -> None:
    values = {**FELT, "args.max_running_requests": 512, "start.max_running_requests": 96, "decode.running_req.p95": 96}
    assert judged(CAUSE, values).state == "supported"
    assert judged(CAUSE, {"args.max_running_requests": None}).state == "refuted"
