"""ME001: two figures for one thing, and which of them is the right one."""

from ppagent.causes.me001_figure_misread import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

LOG = {"decode.throughput.p50": 100.0, "decode.throughput.p95": 104.0, "decode.throughput.max": 106.0}


def test_a_time_to_first_token_without_streaming_is_the_whole_requests_time() -> None:
    values = {
        "stated.question": "Why is TTFT 38 seconds?",
        "bench.levels": [level(128, 3141, mean_ttft_ms=37000, output_len=1000, streamed=False)],
    }
    assert judged(CAUSE, values).state == "supported"
    assert "streaming" in CAUSE.advise(facts_of(values)).remedies[0].title


def test_it_is_told_from_the_figures_where_streaming_is_not_stated() -> None:
    row = level(128, 3141, mean_ttft_ms=37300, output_len=950, mean_tpot_ms=0)
    assert judged(CAUSE, {"stated.question": "TTFT is awful", "bench.levels": [row]}).state == "supported"


def test_a_long_wait_in_a_queue_is_no_missing_stream() -> None:
    row = level(128, 3141, mean_ttft_ms=30000, output_len=950, mean_tpot_ms=12)
    assert judged(CAUSE, {"stated.question": "TTFT is awful", "bench.levels": [row]}).because == ()


def test_the_lines_of_all_stages_added_up_are_found_out() -> None:
    values = {**LOG, "args.pp_size": 8, "stated.sentences": ["All eight stages together give 800 tok/s"]}
    judgement = judged(CAUSE, values)
    assert judgement.state == "supported"
    assert "8.0 times the 100 tok/s" in judgement.because[0].says


def test_one_users_share_taken_for_the_whole_is_found_out() -> None:
    values = {**LOG, "args.pp_size": 1, "stated.in_flight": 20, "stated.sentences": ["I only see 5 tok/s"]}
    judgement = judged(CAUSE, values)
    assert judgement.state == "supported"
    assert "one of 20 requests' share" in judgement.because[0].says


def test_wall_clock_with_prefill_taken_for_decode_is_found_out() -> None:
    values = {
        **LOG,
        "stated.sentences": ["Decode runs at 30 tok/s"],
        "bench.levels": [level(1, 31, input_len=16000, output_len=500)],
    }
    judgement = judged(CAUSE, values)
    assert judgement.state == "supported"
    assert "31 tok/s over the whole run, 100 tok/s while it decodes" in judgement.because[0].says


def test_the_line_after_an_idle_stretch_is_found_out() -> None:
    values = {**LOG, "stated.sentences": ["The log says 0.39 tok/s"]}
    assert judged(CAUSE, values).state == "supported"


def test_cards_that_wait_at_full_use_are_found_out_where_they_are_taken_for_busy() -> None:
    values = {
        "stated.question": "The GPUs are fully busy, so why is it slow?",
        "gpu.utilization": {"0": 99.0, "1": 98.0},
        "gpu.power_w": {"0": 140.0, "1": 139.0},
        "gpu.power_limit_w": {"0": 600.0, "1": 600.0},
    }
    assert judged(CAUSE, values).state == "supported"
    without_belief = {k: v for k, v in values.items() if k != "stated.question"}
    assert judged(CAUSE, without_belief).state != "supported"


def test_stated_use_at_little_power_counts_like_samples() -> None:
    values = {
        "stated.question": "Cards are maxed at 100 %",
        "stated.utilization": {"low": 99, "high": 100},
        "stated.power_w": {"low": 130, "high": 140},
        "stated.power_limit_w": 600,
    }
    assert judged(CAUSE, values).state == "supported"


def test_a_hoped_for_speed_is_no_misread_one() -> None:
    values = {**LOG, "args.pp_size": 8, "stated.question": "I hoped for 800 tok/s. Why is it slow?"}
    assert judged(CAUSE, values).because == ()


def test_figures_that_agree_refute_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_a_measured_speed_without_a_log_cannot_be_told() -> None:
    judgement = judged(CAUSE, {"bench.levels": [level(8, 95)]})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.decode"
