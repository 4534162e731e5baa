"""KV005: kept out of a pool that has room, by nothing else than admission's reserve."""

from ppagent.causes.kv002_admission_capped import CAUSE as KV002
from ppagent.causes.kv005_admission_conservative import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

KEPT_OUT = {
    "args.pp_size": 1,
    "args.schedule_conservativeness": 3.0,
    "internal.max_running_requests": 256,
    "decode.running_req.p95": 40,
    "decode.queue_req.mean": 25.0,
    "decode.queue_share": 0.9,
    "decode.token_usage.max": 0.45,
    "prefill.share_of_lines": 0.1,
}


def test_a_queue_with_room_in_pool_and_cap_and_a_high_setting_supports_it() -> None:
    judgement = judged(CAUSE, KEPT_OUT)
    assert judgement.state == "supported"
    assert any("schedule_conservativeness is 3" in o.says for o in judgement.because)


def test_the_setting_is_first_brought_back_to_its_default() -> None:
    assert CAUSE.advise(facts_of(KEPT_OUT)).remedies[0].change.set == {"--schedule-conservativeness": "1"}


def test_below_the_default_it_is_lowered_further_and_more_gently_under_a_pipeline() -> None:
    values = {**KEPT_OUT, "args.schedule_conservativeness": 1.0}
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--schedule-conservativeness": "0.5"}
    values["args.pp_size"] = 8
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--schedule-conservativeness": "0.7"}


def test_at_the_default_setting_a_high_reserve_is_needed_to_support_it() -> None:
    values = {**KEPT_OUT, "args.schedule_conservativeness": 1.0}
    judgement = judged(CAUSE, values)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "http.metrics"
    assert judged(CAUSE, {**values, "metrics.new_token_ratio": 0.7}).state == "supported"


def test_running_at_the_cap_is_the_caps_doing() -> None:
    values = {**KEPT_OUT, "decode.running_req.p95": 256}
    assert judged(CAUSE, values).state != "supported"
    assert judged(KV002, values).state == "supported"


def test_retractions_mean_that_admission_is_bold() -> None:
    assert judged(CAUSE, {**KEPT_OUT, "trouble.kv_pool_full": 9}).state != "supported"


def test_a_full_pool_refutes_it_at_the_default_setting() -> None:
    values = {**KEPT_OUT, "args.schedule_conservativeness": 1.0, "decode.token_usage.max": 0.97}
    assert judged(CAUSE, values).state == "refuted"


def test_no_queue_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_an_unknown_setting_is_asked_for() -> None:
    values = {k: v for k, v in KEPT_OUT.items() if k != "args.schedule_conservativeness"}
    judgement = judged(CAUSE, values)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "http.info"


def test_a_reserve_above_the_one_it_begins_with_comes_from_retractions_and_not_from_the_setting() -> None:
    values = {**KEPT_OUT, "args.schedule_conservativeness": 0.1}
    found = judged(CAUSE, {**values, "metrics.new_token_ratio": 0.63})
    assert found.state != "supported"
    assert any("begins with 7%: only retractions raise it" in each.says for each in found.against)
    begun = judged(CAUSE, {**KEPT_OUT, "args.schedule_conservativeness": 1.0, "metrics.new_token_ratio": 0.7})
    assert not any("retractions" in each.says for each in begun.against)
