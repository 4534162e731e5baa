"""KV001: retractions and a full pool, against pools that are merely used."""

from ppagent.causes.kv001_pool_exhausted import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

FULL_POOL = {
    "args.pp_size": 1,
    "args.mem_fraction_static": 0.8,
    "trouble.kv_pool_full": 12,
    "decode.token_usage.max": 1.0,
    "decode.token_usage.p50": 0.96,
    "decode.running_req.p95": 40,
    "decode.queue_share": 0.7,
    "decode.queue_req.mean": 6.0,
    "start.max_total_tokens": 40000,
    "start.graph_avail_gib": {"TP0": 14.0},
    "gpu.memory_total_mib": {"0": 81920},
    "bench.levels": [level(48, 500, input_len=800, output_len=1200)],
}


def test_retractions_and_a_full_pool_support_it() -> None:
    judgement = judged(CAUSE, FULL_POOL)
    assert judgement.state == "supported"
    assert "12 lines" in judgement.because[0].says


def test_the_first_remedy_caps_running_at_what_the_pool_holds() -> None:
    remedies = CAUSE.advise(facts_of(FULL_POOL)).remedies
    assert remedies[0].change.set == {"--max-running-requests": "19"}
    assert remedies[1].change.set == {"--mem-fraction-static": "0.92"}
    assert remedies[2].change.set == {"--schedule-conservativeness": "1.3"}


def test_the_cap_counts_all_data_parallel_ranks() -> None:
    remedies = CAUSE.advise(facts_of({**FULL_POOL, "args.dp_size": 4})).remedies
    assert remedies[0].change.set == {"--max-running-requests": "76"}


def test_no_larger_pool_is_proposed_where_the_cards_are_full() -> None:
    remedies = CAUSE.advise(facts_of({**FULL_POOL, "start.graph_avail_gib": {"TP0": 4.2}})).remedies
    assert all("--mem-fraction-static" not in remedy.change.set for remedy in remedies)


def test_a_collapse_after_a_retraction_is_told_in_the_order_of_events() -> None:
    judgement = judged(
        CAUSE,
        {
            "trouble.kv_pool_full": 1,
            "decode.token_usage.max": 1.0,
            "decode.token_usage.p50": 0.93,
            "decode.throughput_before": 429.34,
            "decode.throughput_after": 36.3,
            "decode.running_before": 4,
            "decode.running_after": 6,
        },
    )
    assert judgement.state == "supported"
    assert any("429.3 tok/s before" in o.says and "36.3 tok/s after" in o.says for o in judgement.because)


def test_a_standing_full_pool_without_retractions_supports_it() -> None:
    assert judged(CAUSE, {"decode.token_usage.max": 1.0, "decode.token_usage.p50": 0.99}).state == "supported"


def test_a_peak_near_full_alone_stays_open() -> None:
    assert judged(CAUSE, {"decode.token_usage.max": 0.98, "decode.token_usage.p50": 0.7}).state == "open"


def test_a_rare_retraction_on_a_half_empty_pool_is_not_a_finding() -> None:
    values = {"trouble.kv_pool_full": 1, "decode.token_usage.max": 0.99, "decode.token_usage.p50": 0.5}
    assert judged(CAUSE, values).state == "open"


def test_a_nearly_empty_pool_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        judgement = judged(CAUSE, values)
        assert judgement.state == "refuted"
        assert judgement.against[0].cites == ("decode",)


def test_an_unseen_pool_cannot_be_told_and_asks_for_decode_lines() -> None:
    judgement = judged(CAUSE, {"args.pp_size": 8})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.decode"


def test_metrics_alone_can_refute_it() -> None:
    assert judged(CAUSE, {"metrics.token_usage": 0.2, "metrics.retracted_reqs": 0}).state == "refuted"


OUTGROWN = {
    "args.pp_size": 2,
    "args.max_total_tokens": 1400,
    "start.max_total_tokens": 1400,
    "internal.max_running_requests": 512,
    "trouble.kv_pool_full": 2,
    "decode.lines": 40,
    "decode.token_usage.max": 0.93,
    "decode.token_usage.p50": 0.74,
    "decode.running_req.p95": 5,
    "decode.queue_share": 0.97,
    "decode.queue_req.mean": 8.3,
    "bench.levels": [level(16, 44.6, input_len=64, output_len=160)],
}


def test_a_load_too_large_for_the_pool_supports_it_though_admission_keeps_the_pool_below_full() -> None:
    judgement = judged(CAUSE, OUTGROWN)
    assert judgement.state == "supported"
    assert "1400 tokens hold 5 requests of 224 tokens, 16 are in flight" in judgement.because[0].says


def test_a_pool_that_was_limited_by_hand_is_raised_to_what_the_load_needs_and_nothing_is_capped() -> None:
    (first, *_) = remedies = CAUSE.advise(facts_of(OUTGROWN)).remedies
    assert first.change.set == {"--max-total-tokens": "4608"}  # 1400 x 16 / 5, in pages
    assert not any("--max-running-requests" in remedy.change.set for remedy in remedies)


def test_a_queue_before_a_pool_that_would_hold_the_load_is_not_the_pools_fault() -> None:
    roomy = {**OUTGROWN, "start.max_total_tokens": 16384, "decode.token_usage.max": 0.3, "decode.token_usage.p50": 0.2}
    assert judged(CAUSE, roomy).state != "supported"
