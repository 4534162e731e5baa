import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_fakes import FakeTarget, facts_of, run

from ppagent.errors import ToolError
from ppagent.targets.target import Shared
from ppagent_tools.bench import Results
from ppagent_tools.bench_levels import Run, levels_of


def bench(*rows: object) -> FakeTarget:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return FakeTarget(shared={Shared.BENCH: "".join(f"{line}\n" for line in lines)})


def level(**fields: object) -> dict[str, object]:
    return {"max_concurrency": 8, "output_throughput": 95.6, **fields}


def test_levels_are_ordered_by_concurrency_and_keep_their_names() -> None:
    target = bench(level(mean_itl_ms=83.7, tool="own", duration=60), level(max_concurrency=1, output_throughput=24.7))
    facts = facts_of(run(Results(), target))
    assert facts.items("bench.levels") == [
        {"concurrency": 1, "output_throughput": 24.7},
        {"concurrency": 8, "output_throughput": 95.6, "mean_itl_ms": 83.7, "tool": "own", "duration_s": 60},
    ]
    assert facts.number("bench.best_throughput") == 95.6
    assert facts.number("bench.top_concurrency") == 8
    assert facts.number("bench.failed") == 0


def test_a_level_measured_twice_is_the_mean_of_its_runs() -> None:
    (row,) = facts_of(run(Results(), bench(level(completed=10), level(output_throughput=105.6, completed=12)))).items(
        "bench.levels"
    )
    assert isinstance(row, dict)
    assert row["output_throughput"] == pytest.approx(100.6)
    assert (row["completed"], row["runs"]) == (22, 2)


def test_lengths_come_from_what_was_asked_or_from_the_totals() -> None:
    asked = levels_of([Run(level(random_input_len=1024, random_output_len=128), "")])[0]
    assert (asked["input_len"], asked["output_len"]) == (1024, 128)
    counted = levels_of([Run(level(total_input_tokens=1000, total_output_tokens=500, completed=10), "")])[0]
    assert (counted["input_len"], counted["output_len"]) == (100, 50)


def test_a_run_without_streaming_is_known_by_its_first_token() -> None:
    whole = levels_of([Run(level(mean_ttft_ms=38703, mean_e2e_latency_ms=38703), "")])[0]
    assert whole["streamed"] is False
    assert levels_of([Run(level(mean_ttft_ms=380, mean_e2e_latency_ms=38703), "")])[0]["streamed"] is True
    assert "streamed" not in levels_of([Run(level(), "")])[0]


def test_achieved_concurrency_stands_in_for_a_missing_limit() -> None:
    found = levels_of([Run({"output_throughput": 9.0, "concurrency": 3.456}, "")])[0]
    assert (found["concurrency"], found["achieved_concurrency"]) == (3.46, 3.456)


def test_requests_sent_all_at_once_are_all_in_flight() -> None:
    at_once = {"output_throughput": 2582.28, "request_rate": "inf", "completed": 128}
    assert levels_of([Run(at_once, "")])[0]["concurrency"] == 128
    assert "concurrency" not in levels_of([Run({**at_once, "request_rate": 4}, "")])[0]


def test_clients_that_mostly_think_are_few_in_flight_by_littles_law() -> None:
    thinking = level(max_concurrency=4, completed=16, duration=60, mean_e2e_latency_ms=3750.7)
    assert levels_of([Run(thinking, "")])[0]["achieved_concurrency"] == pytest.approx(1.0, abs=0.001)
    assert "achieved_concurrency" not in levels_of([Run({**thinking, "completed": 5}, "")])[0]


def test_throughput_is_worked_out_where_only_totals_are_known() -> None:
    assert levels_of([Run({"total_output_tokens": 600, "duration": 60}, "")])[0]["output_throughput"] == 10


def test_failed_requests_are_counted_from_errors_or_what_is_missing() -> None:
    target = bench(level(errors=["", "timeout", ""]), level(max_concurrency=1, num_prompts=10, completed=7))
    assert facts_of(run(Results(), target)).number("bench.failed") == 4


def test_a_bad_line_is_counted_and_hides_nothing() -> None:
    facts = facts_of(run(Results(), bench(level(), "{oops", "[1]")))
    assert facts.number("bench.unread") == 2
    assert len(facts.items("bench.levels")) == 1


def test_only_bad_lines_are_an_error_that_names_the_first() -> None:
    with pytest.raises(ToolError, match="bench.jsonl, line 1: no JSON"):
        run(Results(), bench("{oops", "nope"))
    with pytest.raises(ToolError, match="names a figure"):
        run(Results(), bench({"max_concurrency": 8}))


def test_an_infinite_rate_is_text_so_that_the_facts_stay_json() -> None:
    facts = facts_of(run(Results(), bench('{"output_throughput": 5, "max_concurrency": 1, "request_rate": Infinity}')))
    assert facts.items("bench.levels") == [{"concurrency": 1, "output_throughput": 5, "request_rate": "inf"}]


def test_data_sets_are_named_once_each() -> None:
    facts = facts_of(run(Results(), bench(level(dataset_name="random"), level(dataset_name="random", tool="b"))))
    assert facts.items("bench.dataset") == ["random"]


def test_the_figures_are_quoted_out_of_a_long_line() -> None:
    long = {"server_info": {"x": "y" * 2000}, **level(mean_ttft_ms=3.0)}
    (finding,) = run(Results(), bench(long))
    assert '"output_throughput": 95.6' in finding.excerpt
    assert len(finding.excerpt) <= 400


FIELDS = ("max_concurrency", "output_throughput", "duration", "completed", "total_output_tokens", "mean_ttft_ms",
          "errors", "request_rate")  # fmt: skip
VALUES = st.one_of(
    st.none(), st.integers(-5, 5), st.floats(), st.text(max_size=3), st.lists(st.none(), max_size=2)
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, min_size=1), max_size=5))
def test_any_result_gives_plain_numbers_or_a_tool_error(rows: list[dict[str, object]]) -> None:
    try:
        run(Results(), bench(*rows))
    except ToolError:
        return


def test_figures_that_nothing_measures_are_left_out() -> None:
    target = bench(
        level(mean_itl_ms=-3, mean_tpot_ms=10**400, mean_ttft_ms=float("inf"), max_concurrency=8),
        level(output_throughput=-95.6, max_concurrency=4),
        level(output_throughput=1e300, max_concurrency=2),
        f'{{"max_concurrency": {"9" * 5000}, "output_throughput": 1}}',
    )
    facts = facts_of(run(Results(), target))
    assert facts.items("bench.levels") == [{"concurrency": 8, "output_throughput": 95.6}]
    assert facts.number("bench.unread") == 1
