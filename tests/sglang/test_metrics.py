"""Prometheus text and the rules of SGLang's labels."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import ToolError
from ppagent.sglang.metrics import (
    Scrape,
    histogram_mean,
    increases,
    parse_metrics,
    rate,
    rate_by_pp_rank,
    seconds_between,
)


def scrape(*lines: str, second: int = 0) -> Scrape:
    return parse_metrics("\n".join([f"# scraped_at: 2026-11-29T17:00:{second:02d}Z", *lines]) + "\n")


def test_a_scrape_gives_its_time_and_its_series() -> None:
    found = scrape(
        "# HELP sglang:num_running_reqs Running.",
        "# TYPE sglang:num_running_reqs gauge",
        'sglang:num_running_reqs{engine_type="unified",pp_rank="0",tp_rank="0"} 4.0',
        "python_gc_objects_collected_total 7 1764435600000",
    )
    assert found.at == datetime(2026, 11, 29, 17, tzinfo=UTC)
    assert found.gauge("num_running_reqs") == 4.0
    assert found.samples["python_gc_objects_collected_total"][0].value == 7.0
    assert found.skipped == 0


def test_both_spellings_of_the_prefix_name_the_same_metric() -> None:
    assert scrape("sglang_token_usage 0.5").gauge("token_usage") == 0.5
    assert scrape("sglang:token_usage 0.5").gauge("token_usage") == 0.5


def test_labels_may_hold_quotes_braces_commas_and_escapes() -> None:
    (sample,) = scrape(r'm{path="/a \"b\", {c}",line="x\ny",back="\\",} 1').samples["m"]
    assert sample.labels == {"path": '/a "b", {c}', "line": "x\ny", "back": "\\"}


def test_nan_and_infinity_are_no_values() -> None:
    found = scrape('sglang:fwd_occupancy{pp_rank="0"} NaN', 'sglang:other{pp_rank="0"} +Inf')
    assert found.gauge("fwd_occupancy") is None
    assert found.by_pp_rank("fwd_occupancy") == {}
    assert found.gauge("other") is None
    assert math.isinf(found.samples["other"][0].value)


def test_stages_are_copies_and_never_added() -> None:
    found = scrape(*(f'sglang:gen_throughput{{pp_rank="{pp}"}} {100 + pp}' for pp in range(8)))
    assert found.gauge("gen_throughput") == 100.0
    assert found.gauge("gen_throughput", pp_rank="7") == 107.0
    assert found.by_pp_rank("gen_throughput") == {pp: 100.0 + pp for pp in range(8)}
    assert found.gauge("gen_throughput", pp_rank="9") is None


def test_dp_ranks_are_added_and_tp_ranks_are_not() -> None:
    found = scrape(
        'sglang:num_queue_reqs{dp_rank="0",pp_rank="0",tp_rank="0"} 3',
        'sglang:num_queue_reqs{dp_rank="0",pp_rank="0",tp_rank="1"} 3',
        'sglang:num_queue_reqs{dp_rank="1",pp_rank="0",tp_rank="2"} 5',
    )
    assert found.by_dp("num_queue_reqs") == {"0": 3.0, "1": 5.0}
    assert found.gauge("num_queue_reqs") == 8.0
    assert found.gauge("num_queue_reqs", over_dp="max") == 5.0
    assert found.gauge("num_queue_reqs", over_dp="mean") == 4.0


def test_rows_of_one_priority_do_not_count_beside_the_total() -> None:
    found = scrape(
        'sglang:num_queue_reqs{pp_rank="0",priority=""} 3', 'sglang:num_queue_reqs{pp_rank="0",priority="1"} 2'
    )
    assert found.gauge("num_queue_reqs") == 3.0


def test_unreadable_lines_are_counted_and_the_rest_is_kept() -> None:
    found = scrape("good 1", "bad line here", "half{a=", "also_bad one")
    assert found.gauge("good") == 1.0
    assert found.skipped == 3


def test_a_rate_is_growth_over_the_time_between_the_scrapes() -> None:
    scrapes = [
        scrape(f"sglang:generation_tokens_total {value}", second=second) for second, value in ((0, 100), (10, 350))
    ]
    assert seconds_between(scrapes) == 10.0
    assert rate(scrapes, "generation_tokens_total") == 25.0


def test_a_counter_that_falls_began_anew() -> None:
    scrapes = [scrape(f"c_total {value}", second=10 * n) for n, value in enumerate((100, 150, 20, 50))]
    assert rate(scrapes, "c_total") == pytest.approx((50 + 20 + 30) / 30)


def test_a_rate_needs_two_times() -> None:
    once = [scrape("c_total 1")]
    untimed = [parse_metrics("c_total 1"), parse_metrics("c_total 2")]
    assert rate(once, "c_total") is None
    assert rate(untimed, "c_total") is None
    assert increases(untimed, "c_total")[0].value == 1.0


def test_busy_share_by_stage_adds_categories_and_leaves_out_tp_copies() -> None:
    def at(second: int, value: float) -> Scrape:
        rows = [
            f'sglang:forward_execution_seconds_total{{category="{category}",pp_rank="{pp}",tp_rank="{tp}"}} '
            f"{value * (pp + 1)}"
            for category in ("decode", "prefill")
            for pp in range(2)
            for tp in range(2)
        ]
        return scrape(*rows, second=second)

    scrapes = [at(0, 0.0), at(20, 2.0)]
    assert rate_by_pp_rank(scrapes, "forward_execution_seconds_total") == pytest.approx({0: 0.2, 1: 0.4})
    assert rate_by_pp_rank(scrapes, "forward_execution_seconds_total", category="decode") == pytest.approx(
        {0: 0.1, 1: 0.2}
    )


def latency(second: int, counts: tuple[int, int, int], total: float) -> Scrape:
    bounds = ("0.1", "0.5", "+Inf")
    rows = [
        f'sglang:ttft_bucket{{le="{bound}",model_name="m"}} {count}'
        for bound, count in zip(bounds, counts, strict=True)
    ]
    return scrape(
        *rows,
        f'sglang:ttft_sum{{model_name="m"}} {total}',
        f'sglang:ttft_count{{model_name="m"}} {counts[-1]}',
        second=second,
    )


def test_a_histogram_speaks_of_what_came_between_the_scrapes() -> None:
    scrapes = [latency(0, (10, 20, 20), 5.0), latency(10, (10, 60, 60), 17.0)]
    assert histogram_mean(scrapes, "ttft") == pytest.approx(0.3)


def test_a_histogram_that_took_up_nothing_says_nothing() -> None:
    scrapes = [latency(0, (1, 1, 1), 1.0), latency(10, (1, 1, 1), 1.0)]
    assert histogram_mean(scrapes, "ttft") is None


@given(st.text(max_size=300))
def test_no_text_makes_the_parser_fail(text: str) -> None:
    parse_metrics(text)


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(max_size=12), max_size=4),
    st.floats(-1e9, 1e9),
)
def test_labels_and_values_come_back_as_written(labels: dict[str, str], value: float) -> None:
    written = ",".join(
        f'{name}="' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        for name, text in labels.items()
    )
    (sample,) = parse_metrics(f"sglang:m{{{written}}} {value!r}").samples["m"]
    assert dict(sample.labels) == labels
    assert sample.value == value


@given(st.lists(st.integers(0, 50), min_size=2, max_size=8))
def test_growth_without_resets_is_last_minus_first(steps: list[int]) -> None:
    totals = [sum(steps[: n + 1]) for n in range(len(steps))]
    scrapes = [scrape(f"c_total {total}", second=n) for n, total in enumerate(totals)]
    assert increases(scrapes, "c_total")[0].value == totals[-1] - totals[0]


@pytest.mark.parametrize("odd", ["NaN", "+Inf", "-Inf", "1e308", "-1e300", "9" * 5000, "x", ""])
def test_a_value_that_nothing_can_have_is_left_out_wherever_values_are_put_together(odd: str) -> None:
    texts = [
        f"# scraped_at: 2026-05-02T10:00:0{n}\n"
        f'sglang:num_running_reqs{{pp_rank="0"}} {odd}\nsglang:num_running_reqs{{pp_rank="0",dp_rank="1"}} 4\n'
        f"sglang:e2e_sum {n}\nsglang:e2e_count {odd}\n"
        for n in (1, 2)
    ]
    scrapes = [parse_metrics(text) for text in texts]
    assert scrapes[0].gauge("num_running_reqs") == 4
    assert histogram_mean(scrapes, "e2e") is None


@pytest.mark.parametrize("rank", ["\u00b2", "9" * 5000, "-1", "x", ""])
def test_a_rank_that_is_no_number_is_no_stage(rank: str) -> None:
    texts = [
        f'# scraped_at: 2026-05-02T10:00:0{n}\nsglang:a_total{{pp_rank="{rank}",tp_rank="{rank}"}} {n}\n'
        for n in (1, 2)
    ]
    scrapes = [parse_metrics(text) for text in texts]
    assert scrapes[0].by_pp_rank("a_total") == {}
    assert rate_by_pp_rank(scrapes, "a_total") == {}


@pytest.mark.parametrize("odd", ['a{b="' + "c" * 70_000 + '"} 1', "a{" + '"' * 70_000, "a" * 70_000])
def test_a_line_of_no_sane_length_is_skipped_unread(odd: str) -> None:
    scrape = parse_metrics(f"sglang:num_running_reqs 3\n{odd}\nsglang:num_queue_reqs 1\n")
    assert (scrape.gauge("num_running_reqs"), scrape.gauge("num_queue_reqs"), scrape.skipped) == (3, 1, 1)
    assert set(scrape.samples) == {"num_running_reqs", "num_queue_reqs"}


def test_more_series_than_a_server_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.sglang.metrics.MOST_SERIES", 10)
    assert parse_metrics("".join(f'a{{n="{n}"}} 1\n' for n in range(10))).series("a")[9].value == 1
    with pytest.raises(ToolError, match="more than 10 samples"):
        parse_metrics("".join(f'a{{n="{n}"}} 1\n' for n in range(11)))
