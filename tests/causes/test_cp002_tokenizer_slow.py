"""CP002: the engine is fast and the client sees it late."""

from collections.abc import Mapping

from ppagent.causes.cp002_tokenizer_slow import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level

LATE = {
    "args.pp_size": 1,
    "args.dp_size": 8,
    "decode.running_req.p95": 128,
    "decode.throughput.p95": 26000.0,
    "trouble.slow_tokenizer": 1,
    "bench.levels": [level(1024, 5600, mean_itl_ms=180, streamed=True)],
}


def test_a_client_that_sees_four_times_the_engines_latency_supports_it() -> None:
    judgement = judged(CAUSE, LATE)
    assert judgement.state == "supported"
    assert "180 ms" in judgement.because[0].says and "39.4 ms in the engine" in judgement.because[0].says


def test_with_the_warning_a_fast_tokenizer_comes_first_and_token_ids_second() -> None:
    remedies = CAUSE.advise(facts_of(LATE)).remedies
    assert remedies[0].kind == "operator"
    assert remedies[1].change.set == {"--skip-tokenizer-init": "true"}


def test_without_the_warning_larger_pieces_come_first() -> None:
    values = {k: v for k, v in LATE.items() if k != "trouble.slow_tokenizer"}
    assert judged(CAUSE, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--stream-interval": "8"}


def test_the_median_counts_where_stalls_of_long_prompts_raise_the_mean() -> None:
    values = {**LATE, "bench.levels": [level(1024, 25000, mean_itl_ms=180, median_itl_ms=41, streamed=True)]}
    assert judged(CAUSE, values).state == "refuted"


def test_the_warning_alone_is_common_and_no_finding() -> None:
    assert judged(CAUSE, {"trouble.slow_tokenizer": 1}).state == "cannot_tell"


def test_client_and_engine_that_agree_refute_it_even_with_the_warning() -> None:
    assert judged(CAUSE, {**healthy_server(), "trouble.slow_tokenizer": 1}).state == "refuted"


def test_under_a_pipeline_the_requests_in_flight_stand_in_for_one_micro_batch() -> None:
    values = {
        "args.pp_size": 8,
        "decode.running_req.p95": 1,
        "decode.throughput.p95": 95.0,
        "bench.levels": [level(8, 95, mean_tpot_ms=84, streamed=True)],
    }
    assert judged(CAUSE, values).state == "refuted"


def test_an_unknown_client_latency_is_asked_for() -> None:
    judgement = judged(CAUSE, {"args.pp_size": 1, "decode.running_req.p95": 8, "decode.throughput.p95": 400.0})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "bench.results"


GOES_IN_SLOWLY = {
    "args.pp_size": 2,
    "decode.lines": 40,
    "decode.queue_share": 0.0,
    "decode.queue_req.mean": 0.0,
    "decode.tokens.mean": 450,
    "bench.levels": [level(12, 56, mean_itl_ms=112.7, mean_ttft_ms=3822.9, input_len=64, output_len=40)],
}


def test_first_tokens_that_take_many_turns_with_an_empty_queue_are_lost_before_the_scheduler() -> None:
    judgement = judged(CAUSE, GOES_IN_SLOWLY)
    assert judgement.state == "supported"
    assert "34 times the time between tokens" in judgement.because[0].says
    remedies = CAUSE.advise(facts_of(GOES_IN_SLOWLY)).remedies
    assert remedies[0].change.set["--tokenizer-worker-num"] == "4"


def test_a_stream_in_lumps_without_long_prompts_or_retractions_points_at_who_sends_the_text_out() -> None:
    lumpy = {
        **GOES_IN_SLOWLY,
        "decode.tokens.mean": 721,
        "log.lines": 300,
        "host.tokenizer_cpu_percent": {"sglang.launch_server": 15.0},
        "bench.levels": [
            level(12, 53, mean_itl_ms=165.6, mean_ttft_ms=1920.6, p99_itl_ms=2473.7, input_len=64, output_len=40)
        ],
    }
    assert judged(CAUSE, lumpy).state == "supported"
    assert judged(CAUSE, {**lumpy, "trouble.kv_pool_full": 9}).state != "supported"


def test_a_queue_or_long_prompts_explain_late_first_tokens_by_themselves() -> None:
    assert judged(CAUSE, {**GOES_IN_SLOWLY, "decode.queue_share": 0.9}).state != "supported"
    long = [level(12, 56, mean_itl_ms=112.7, mean_ttft_ms=3822.9, input_len=4000, output_len=40)]
    assert judged(CAUSE, {**GOES_IN_SLOWLY, "bench.levels": long}).state != "supported"


def workers_of(version: str) -> list[Mapping[str, str]]:
    remedies = CAUSE.advise(facts_of({**GOES_IN_SLOWLY, "engine.version": version})).remedies
    return [r.change.set for r in remedies if "--tokenizer-worker-num" in r.change.set]


def test_workers_are_added_where_the_installed_version_can_have_several() -> None:
    assert workers_of("0.5.10") == [{"--tokenizer-worker-num": "4"}]
    assert workers_of("0.5.23") == [{"--tokenizer-worker-num": "4", "--detokenizer-worker-num": "4"}]
