"""Recordings with parts missing led to causes named with too much confidence: what each of them really showed."""

import pytest
from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.evidence.evidence import FactValue

RING: dict[str, FactValue] = {"args.pp_size": 8, "launch.command": "sglang serve m --pp-size 8"}


@pytest.mark.parametrize(
    ("mean", "held", "state"),
    [(3.5, 8, "refuted"), (3.5, 3, "open"), (6.0, 3, "open"), (9.0, 3, "refuted"), (0.5, 1, "open")],
)
def test_a_mean_over_busy_and_idle_times_is_not_the_most_that_was_in_flight(
    mean: float, held: float, state: str
) -> None:
    seen = {**RING, "metrics.in_flight": mean, "decode.running_req.max": held}
    assert judged(cause_of("PP002"), seen).state == state


def test_a_measured_load_below_the_depth_counts_in_full() -> None:
    measured = {**RING, "bench.levels": [level(4, 60)], "decode.running_req.max": 4}
    assert judged(cause_of("PP002"), measured).state == "supported"


@pytest.mark.parametrize(
    ("mean", "share", "waits"), [(0.4, 0.4, False), (0.2, 0.9, False), (3.0, 0.45, True), (3.0, 0.1, False)]
)
def test_one_request_that_waits_its_turn_is_no_queue(mean: float, share: float, waits: bool) -> None:
    pinned = {
        **RING,
        "args.pp_max_micro_batch_size": 4,
        "start.max_running_requests": 4096,
        "decode.running_req.p95": 4,
        "decode.running_req.max": 4,
        "decode.token_usage.p95": 0.01,
        "decode.queue_req.p50": 0,
        "decode.queue_req.mean": mean,
        "decode.queue_share": share,
    }
    judgement = judged(cause_of("PP003"), pinned)
    assert (judgement.state == "supported") is waits
    assert not any(o.says.startswith("0 requests wait") for o in judgement.because)


def test_a_layout_alone_is_no_wrong_axis_until_it_serves() -> None:
    cards: dict[str, FactValue] = {str(k): "NVIDIA A100-SXM4-80GB" for k in range(8)}
    layout = {**RING, "args.tp_size": 1, "gpu.nvlink": True, "gpu.link_worst": "NV12", "gpu.names": cards}
    assert judged(cause_of("PP009"), layout).confidence < 0.2
    assert judged(cause_of("PP009"), {**layout, "decode.lines": 40}).confidence > 0.5


@pytest.mark.parametrize(("times", "state"), [(1.4, "supported"), (3.0, "open")])
def test_a_step_well_above_the_floor_may_hide_a_slow_card(times: float, state: str) -> None:
    model = {"model.hidden_size": 4096, "model.num_hidden_layers": 32, "model.vocab_size": 128256}
    served: dict[str, FactValue] = {
        "args.pp_size": 1,
        "args.tp_size": 1,
        "internal.max_running_requests": 2048,
        "decode.running_req.p95": 8,
        "decode.running_req.max": 8,
        "decode.queue_req.mean": 0,
        "decode.queue_req.p50": 0,
        "decode.queue_share": 0,
        "decode.graph_true_share": 1.0,
        "gpu.names": {"0": "NVIDIA H100 80GB HBM3"},
        **model,
    }
    from ppagent.causes.kernel_gap import bandwidth_gap

    one = facts_of({**served, "bench.levels": [level(8, 100, mean_itl_ms=10)]})
    gap = bandwidth_gap(one)
    assert gap is not None
    itl_ms = 10 * times / gap.value
    seen = {**served, "bench.levels": [level(8, 8000 / itl_ms, mean_itl_ms=itl_ms)]}
    assert judged(cause_of("LB001"), seen).state == state


def test_a_speed_that_the_log_has_itself_is_no_line_after_idling() -> None:
    log: dict[str, FactValue] = {"args.pp_size": 1, "launch.command": "sglang serve m", "decode.lines": 40}
    rates: dict[str, FactValue] = {f"decode.throughput.{name}": 430.0 for name in ("p50", "p95", "max")}
    said: dict[str, FactValue] = {"stated.sentences": ["We get 29 tok/s."]}
    steady = judged(cause_of("ME001"), {**log, **rates, **said, "decode.throughput.min": 428.0})
    slowed = judged(cause_of("ME001"), {**log, **rates, **said, "decode.throughput.min": 22.0})
    told = {"stated.sentences": ["Since then we get 29 tok/s."]}
    changed = judged(cause_of("ME001"), {**log, **rates, **told, "decode.throughput.min": 428.0})
    assert steady.confidence > 0.5 > max(slowed.confidence, changed.confidence)


def test_pending_tokens_of_a_burst_of_short_prompts_are_no_long_prompt() -> None:
    burst: dict[str, FactValue] = {
        "args.pp_size": 4,
        "args.chunked_prefill_size": 8192,
        "decode.lines": 40,
        "decode.longest_gap_s": 5.0,
        "prefill.lines": 12,
        "prefill.longest_run": 7,
        "prefill.tokens_per_line.max": 7200,
        "prefill.new_seq.mean": 5.0,
        "prefill.pending_tokens.max": 30000,
    }
    assert judged(cause_of("PP005"), burst).state != "supported"
    known_prompts = burst | {"bench.levels": [level(32, 400, input_len=1200)], "prefill.new_seq.mean": 1.0}
    assert judged(cause_of("PP005"), known_prompts).state != "supported"
    others = known_prompts | {"bench.levels": [level(4, 60, input_len=400)]}
    assert judged(cause_of("PP005"), others).state == "supported"


def test_fewer_in_flight_than_asked_for_counts_little_while_nobody_knows_whether_they_wait() -> None:
    asked = {"bench.levels": [level(128, 2600, achieved_concurrency=15.5)]}
    calm: dict[str, FactValue] = {
        "decode.lines": 80,
        "decode.queue_req.mean": 0.0,
        "decode.queue_share": 0.0,
        "decode.running_req.p95": 16,
    }
    assert judged(cause_of("LB001"), asked).state != "supported"
    assert judged(cause_of("LB001"), asked | calm).state == "supported"


def test_a_stated_rate_does_not_prove_itself_a_figure_misread() -> None:
    alone: dict[str, FactValue] = {
        "stated.levels": [{"concurrency": 6, "output_throughput": 29}],
        "decode.lines": 40,
        "decode.throughput.p50": 429.0,
        "decode.throughput.min": 420.0,
        "prefill.share_of_lines": 0.6,
    }
    then = alone | {"stated.question": "Four sessions ran well. Since then six get 20 to 38 tok/s."}
    assert judged(cause_of("ME001"), then).state != "supported"


@pytest.mark.parametrize(("tokens", "hangs"), [(1, False), (700, True)])
def test_health_checks_need_no_decode_line(tokens: float, hangs: bool) -> None:
    quiet = {"log.lines": 90, "log.ended_without_decode": True, "prefill.tokens_per_line.max": tokens}
    told = judged(cause_of("PP008"), {**RING, **quiet}).because
    assert any("no decode line followed" in o.says for o in told) is hangs


def test_a_load_that_ran_faster_before_is_not_too_low_a_load() -> None:
    few: dict[str, FactValue] = {
        "bench.levels": [level(8, 130), level(4, 66)],
        "decode.lines": 80,
        "decode.queue_req.mean": 0.0,
        "decode.queue_share": 0.0,
        "decode.running_req.p95": 8,
    }
    before = few | {"stated.sentences": ["Before the move the same load gave 243.6 tok/s."]}
    assert not judged(cause_of("LB001"), few).against
    assert any("same load gave 243.6 tok/s" in o.says for o in judged(cause_of("LB001"), before).against)


@pytest.mark.parametrize(
    ("sentence", "misread"),
    [
        ("The server gives 30 tok/s.", True),
        ("Just the two of us, and each gets 30 tok/s.", False),
        ("We see 30 tok/s per user.", False),
    ],
)
def test_a_speed_that_is_told_as_one_users_is_taken_for_nothing_else(sentence: str, misread: bool) -> None:
    log: dict[str, FactValue] = {"decode.lines": 40, "decode.throughput.p50": 59.5, "stated.in_flight": 2}
    judgement = judged(cause_of("ME001"), {**RING, **log, "stated.sentences": [sentence]})
    assert any("share of the server's" in o.says for o in judgement.because) is misread
