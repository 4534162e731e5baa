"""Quantities of admission, each from the best source there is."""

from hypothesis import given
from hypothesis import strategies as st

from ppagent.causes.admission import (
    at_cap,
    cap,
    queue,
    requests_that_fit,
    retractions,
    running,
    standing_queue,
    wanted_cap,
)
from ppagent.causes.kernel_gap import measured_gain
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of, level


def test_a_queue_in_few_lines_is_a_burst_and_neither_standing_nor_none() -> None:
    assert standing_queue(facts_of({"decode.queue_share": 0.5, "decode.queue_req.mean": 2.0})) is True
    assert standing_queue(facts_of({"decode.queue_share": 0.1, "decode.queue_req.mean": 5.0})) is None
    assert standing_queue(facts_of({"decode.queue_share": 0.0, "decode.queue_req.mean": 0.0})) is False
    assert standing_queue(facts_of({"metrics.queue_reqs": 7.0})) is True
    assert standing_queue(facts_of({})) is None


def test_the_queue_says_in_how_many_lines_it_was_seen() -> None:
    known = queue(facts_of({"decode.queue_share": 0.5, "decode.queue_req.mean": 2.0}))
    assert known is not None and known.says == "2 requests wait on average, in 50% of the decode lines"


def test_retractions_are_counted_from_the_log_before_the_counter() -> None:
    both = retractions(facts_of({"trouble.kv_pool_full": 3, "metrics.retracted_reqs": 40}))
    assert both is not None and both.value == 3
    counter = retractions(facts_of({"metrics.retracted_reqs": 0}))
    assert counter is not None and counter.value == 0
    assert retractions(facts_of({})) is None


def test_a_requested_cap_is_shared_by_dp_ranks_and_an_effective_one_is_not() -> None:
    asked = cap(facts_of({"args.dp_size": 4, "args.max_running_requests": 128}))
    assert asked is not None and asked.value == 32
    effective = cap(facts_of({"args.dp_size": 4, "internal.max_running_requests": 32}))
    assert effective is not None and effective.value == 32


def test_under_a_pipeline_what_runs_is_what_is_in_flight_less_what_waits() -> None:
    values = {"args.pp_size": 8, "decode.running_req.p95": 2, "decode.queue_req.mean": 4.0}
    assert running(facts_of(values)) is None
    known = running(facts_of({**values, "bench.levels": [level(20, 100)]}))
    assert known is not None and known.value == 16


def test_rank_tags_of_the_log_tell_a_pipeline_without_arguments() -> None:
    values = {"decode.running_req.p95": 2, "log.tags": ["PP", "TP"]}
    assert running(facts_of(values)) is None
    alone = running(facts_of({"decode.running_req.p95": 2, "log.tags": ["TP"]}))
    assert alone is not None and alone.value == 2


def test_one_below_the_cap_counts_as_at_it_where_a_chunk_may_hold_a_place() -> None:
    values = {"args.pp_size": 1, "internal.max_running_requests": 16}
    assert at_cap(facts_of({**values, "decode.running_req.p95": 15})) is True
    assert at_cap(facts_of({**values, "decode.running_req.p95": 14})) is False


def test_the_requests_that_fit_come_from_measured_lengths() -> None:
    values = {"start.max_total_tokens": 100000, "bench.levels": [level(64, 900, input_len=1500, output_len=500)]}
    known = requests_that_fit(facts_of(values))
    assert known is not None and known.value == 47


@given(
    most=st.integers(1, 4096),
    waiting=st.floats(0, 1e4),
    usage=st.floats(0, 1),
    ranks=st.integers(1, 16),
)
def test_a_wanted_cap_is_always_above_the_one_in_force(most: int, waiting: float, usage: float, ranks: int) -> None:
    values = {
        "args.dp_size": ranks,
        "internal.max_running_requests": most,
        "decode.queue_req.mean": waiting,
        "decode.token_usage.max": usage,
    }
    assert wanted_cap(facts_of(values)) > most * ranks


def test_a_counter_of_no_retraction_is_said_as_none() -> None:
    for count, says in ((0.0, "no request was retracted"), (3.0, "3 requests were retracted")):
        known = retractions(facts_of({"metrics.retracted_reqs": count}))
        assert known is not None
        assert known.says == f"{says}, says the server's counter"


def test_a_cure_that_was_measured_is_named_as_it_would_be_typed() -> None:
    row: dict[str, FactValue] = {
        "what": "output_throughput",
        "before": 100.0,
        "after": 300.0,
        "set": {"--kv-cache-dtype": "bfloat16"},
    }
    known = measured_gain(facts_of({"trial.comparisons": [row]}), "kv-cache-dtype")
    assert known is not None
    assert known.says == "with --kv-cache-dtype bfloat16 the rate was measured at 3.00 times the present one"
