"""LB001: the client limits. Only where nothing else explains what is seen."""

from ppagent.causes.lb001_offered_load_low import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

IDLE_SERVER = {
    "args.pp_size": 1,
    "internal.max_running_requests": 512,
    "decode.running_req.p95": 8,
    "decode.queue_req.mean": 0.0,
    "decode.queue_share": 0.0,
    "decode.token_usage.max": 0.04,
    "decode.graph_true_share": 1.0,
    "decode.graph_label": "cuda",
    "bench.levels": [level(2, 150), level(4, 290), level(8, 560)],
}


def test_a_speed_that_still_grows_in_proportion_with_nothing_waiting_supports_it() -> None:
    judgement = judged(CAUSE, IDLE_SERVER)
    assert judgement.state == "supported"
    assert any("290 tok/s at 4 and 560 at 8" in o.says for o in judgement.because)
    assert CAUSE.advise(facts_of(IDLE_SERVER)).remedies[0].kind == "operator"


def test_a_client_that_does_not_keep_up_what_it_was_asked_for_supports_it() -> None:
    values = {**IDLE_SERVER, "bench.levels": [level(64, 900, achieved_concurrency=9.5)]}
    judgement = judged(CAUSE, values)
    assert judgement.state == "supported"
    assert any("kept 9.5 of 64" in o.says for o in judgement.because)


def test_less_than_one_request_in_flight_supports_it() -> None:
    values = {k: v for k, v in IDLE_SERVER.items() if k != "bench.levels"}
    assert judged(CAUSE, {**values, "metrics.in_flight": 0.3}).state == "supported"


def test_a_standing_queue_refutes_it() -> None:
    values = {**IDLE_SERVER, "decode.queue_req.mean": 12.0, "decode.queue_share": 0.9, "decode.running_req.p95": 500}
    assert judged(CAUSE, values).state != "supported"


def test_a_speed_that_no_longer_grows_refutes_it() -> None:
    values = {**IDLE_SERVER, "bench.levels": [level(32, 1000, achieved_concurrency=32), level(64, 1040)]}
    assert judged(CAUSE, values).state == "refuted"


def test_unfilled_slots_are_not_a_low_load() -> None:
    values = {
        **IDLE_SERVER,
        "args.pp_size": 8,
        "decode.running_req.p95": 8,
        "bench.levels": [level(4, 4.1), level(8, 8.0)],
    }
    judgement = judged(CAUSE, values)
    assert judgement.state != "supported"
    assert any("slots stand empty" in o.says for o in judgement.against)


def test_fewer_requests_than_stages_are_left_to_pp002() -> None:
    few = [level(1, 25), level(2, 50)]
    values = {**IDLE_SERVER, "args.pp_size": 8, "decode.running_req.p95": 1, "bench.levels": few}
    assert any("PP002" in o.says for o in judged(CAUSE, values).against)


def test_a_slow_server_is_no_low_load() -> None:
    values = {**IDLE_SERVER, "decode.graph_true_share": 0.0}
    assert judged(CAUSE, values).state != "supported"


def test_the_seed_case_refutes_it_and_a_healthy_server_does_not_support_it() -> None:
    assert judged(CAUSE, seed_case()).state == "refuted"
    assert judged(CAUSE, healthy_server()).state != "supported"


def test_an_unseen_queue_cannot_be_told() -> None:
    judgement = judged(CAUSE, {"args.pp_size": 1})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.decode"


def test_clients_that_mostly_think_offer_too_little_though_few_are_in_flight_for_the_stages() -> None:
    thinking = {
        "args.pp_size": 4,
        "decode.lines": 20,
        "decode.queue_share": 0.0,
        "decode.queue_req.mean": 0.0,
        "bench.levels": [level(4, 5.5, mean_itl_ms=189, achieved_concurrency=1.0)],
    }
    assert judged(CAUSE, thinking).state == "supported"
