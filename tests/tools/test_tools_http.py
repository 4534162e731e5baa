import json

import pytest
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import ToolError
from ppagent.targets.remote.scrape_remark import with_remark
from ppagent_tools.http import Info, Loads, Metrics

INFO = {
    "model_path": "/m", "tp_size": 1, "pp_size": 8, "pp_max_micro_batch_size": None, "disable_cuda_graph": True,
    "api_key": "hunter22x", "version": "0.5.11",
    "internal_states": [{"pp_max_micro_batch_size": 369, "last_gen_throughput": 95.4,
                         "memory_usage": {"weight": 53.5, "kvcache": 11.4, "token_capacity": 1512448, "graph": 0.0},
                         "effective_max_running_requests_per_dp": 2954}],
}  # fmt: skip


def test_arguments_and_the_schedulers_state_are_kept_apart() -> None:
    findings = run(Info(), box(server_info=json.dumps(INFO)))
    facts = facts_of(findings)
    assert facts.number("args.pp_size") == 8
    assert facts.flag("args.disable_cuda_graph") is True
    assert "args.pp_max_micro_batch_size" in facts
    assert facts.get("args.pp_max_micro_batch_size") is None
    assert facts.number("internal.slot_limit") == 369
    assert facts.number("internal.max_running_requests") == 2954
    assert facts.number("internal.memory.token_capacity") == 1512448
    assert facts.text("engine.version") == "0.5.11"
    assert all(finding.authority == 3 for finding in findings)


def test_the_slot_limit_in_force_is_quoted_from_the_state() -> None:
    findings = run(Info(), box(server_info=json.dumps(INFO)))
    quoted = next(f for f in findings if "internal.slot_limit" in f.facts)
    assert '"pp_max_micro_batch_size": 369' in quoted.excerpt


def test_keys_are_masked_in_what_is_kept() -> None:
    facts = facts_of(run(Info(), box(server_info=json.dumps(INFO))))
    assert "hunter22x" not in str([facts.all(name) for name in facts])


@pytest.mark.parametrize(
    ("text", "why"), [('{\n"a": ', "line 2"), ("[]", "JSON object|arguments"), ("{}", "arguments")]
)
def test_an_answer_that_is_none_is_a_tool_error(text: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        run(Info(), box(server_info=text))


def test_loads_of_several_ranks_are_kept_by_rank() -> None:
    rows = [{"dp_rank": n, "num_running_reqs": n, "num_waiting_reqs": 2, "token_usage": 0.1 * n} for n in (0, 1)]
    facts = facts_of(run(Loads(), box(loads=json.dumps({"loads": rows}))))
    assert facts.number("loads.waiting") == 4
    assert facts.number("loads.running") == 1
    assert facts.table("loads.by_dp")["DP1"] == {"running": 1, "waiting": 2, "token_usage": 0.1}


def test_loads_without_a_rank_are_a_tool_error() -> None:
    for text in ('{"loads": []}', "{}", "nope"):
        with pytest.raises(ToolError):
            run(Loads(), box(loads=text))


def scrape(at: int, running: float, tokens: float, latency: float = 0.0, passes: float = 0.0) -> str:
    return (
        f"# scraped_at: 2026-05-02T10:00:{at:02}Z\n"
        f'sglang:num_running_reqs{{pp_rank="0",tp_rank="0"}} {running}\n'
        f'sglang:num_running_reqs{{pp_rank="1",tp_rank="0"}} 99\n'
        f'sglang:gen_throughput{{pp_rank="0",tp_rank="0"}} {running * 10}\n'
        f'sglang:generation_tokens_total{{model_name="m"}} {tokens}\n'
        f'sglang:e2e_request_latency_seconds_sum{{model_name="m"}} {latency}\n'
        f'sglang:e2e_request_latency_seconds_count{{model_name="m"}} {latency / 4}\n'
        f'sglang:cuda_graph_passes_total{{pp_rank="0",tp_rank="0",mode="decode_cuda_graph"}} {passes}\n'
        f'sglang:cuda_graph_passes_total{{pp_rank="0",tp_rank="0",mode="decode_none"}} {passes * 3}\n'
        f'sglang:cuda_graph_passes_total{{pp_rank="0",tp_rank="0",mode="prefill_none"}} {passes * 9}\n'
        f'sglang:forward_execution_seconds_total{{pp_rank="0",tp_rank="0",category="decode"}} {at * 0.125}\n'
        f'sglang:forward_execution_seconds_total{{pp_rank="1",tp_rank="0",category="decode"}} {at * 0.5}\n'
    )


def metrics(*texts: str) -> FakeTarget:
    return FakeTarget(scrapes=[(f"metrics/{n}.prom", text) for n, text in enumerate(texts, 1)])


def test_stage_zero_counts_and_idle_scrapes_do_not() -> None:
    facts = facts_of(run(Metrics(), metrics(scrape(0, 3, 0), scrape(10, 0, 0), scrape(20, 5, 0))))
    assert facts.number("metrics.running_reqs") == 4
    assert facts.number("metrics.gen_throughput") == 40


def test_rates_are_those_between_the_first_and_the_last_scrape() -> None:
    facts = facts_of(run(Metrics(), metrics(scrape(0, 3, 100), scrape(10, 3, 1100, latency=80, passes=8))))
    assert facts.number("metrics.window_s") == 10
    assert facts.number("metrics.generation_rate") == 100
    assert facts.number("metrics.in_flight") == 8
    assert facts.number("metrics.e2e_ms") == 4000
    assert facts.number("metrics.graph_share") == 0.25
    assert facts.numbers("metrics.forward_busy") == {"PP0": 0.125, "PP1": 0.5}


def test_requests_that_are_long_in_flight_are_told_by_the_time_between_their_tokens() -> None:
    """Eight requests on eight real stages (0.5.23), 77 s between tokens summed up in 10 s, and no request ended."""

    def seen(at: int, gaps_s: float, ended: int) -> str:
        return scrape(at, 3, 100 + at) + (
            f'sglang:inter_token_latency_seconds_sum{{model_name="m"}} {gaps_s}\n'
            f'sglang:e2e_request_latency_seconds_sum{{model_name="n"}} {36 * ended}\n'
            f'sglang:e2e_request_latency_seconds_count{{model_name="n"}} {ended}\n'
        )

    none_ended = facts_of(run(Metrics(), metrics(seen(0, 404.6, 0), seen(10, 481.6, 0))))
    assert none_ended.number("metrics.in_flight") == 7.7
    many_ended = facts_of(run(Metrics(), metrics(seen(0, 0, 0), seen(10, 40, 20))))
    assert many_ended.number("metrics.in_flight") == 72


def test_requests_that_are_not_streamed_are_told_by_those_that_end() -> None:
    """Eight clients on four real stages (0.5.23), none streamed: seven ended in 18 s, 132 s long together, and the few
    of more than 50 tokens left 10 s between tokens."""

    def seen(at: int, gaps_s: float, latency_s: float, ended: int) -> str:
        return scrape(at, 5, 100 + at) + (
            f'sglang:inter_token_latency_seconds_sum{{model_name="m"}} {gaps_s}\n'
            f'sglang:e2e_request_latency_seconds_sum{{model_name="n",is_streaming="false"}} {latency_s}\n'
            f'sglang:e2e_request_latency_seconds_count{{model_name="n",is_streaming="false"}} {ended}\n'
        )

    facts = facts_of(run(Metrics(), metrics(seen(0, 3, 134.8, 9), seen(18, 13, 266.8, 16))))
    assert facts.number("metrics.in_flight") == round(132 / 18, 3)


def test_one_short_request_that_ended_says_nothing_of_the_eight_that_run_on() -> None:
    def seen(at: int, latency_s: float, ended: int) -> str:
        return scrape(at, 8, 100 + at) + (
            f'sglang:e2e_request_latency_seconds_sum{{model_name="n"}} {latency_s}\n'
            f'sglang:e2e_request_latency_seconds_count{{model_name="n"}} {ended}\n'
        )

    assert facts_of(run(Metrics(), metrics(seen(0, 90, 9), seen(10, 94.3, 10)))).get("metrics.in_flight") is None
    alone = facts_of(run(Metrics(), metrics(scrape(0, 1, 0), scrape(10, 1, 9, latency=7))))
    assert alone.number("metrics.in_flight") == 0.7


def test_tokens_are_counted_as_they_are_handed_out() -> None:
    """The first of an answer by its own histogram; the token counters grow in lumps."""

    def seen(at: int, firsts: int, others: int) -> str:
        return scrape(at, 3, 100) + (
            f'sglang:time_to_first_token_seconds_count{{model_name="m"}} {firsts}\n'
            f'sglang:inter_token_latency_seconds_count{{model_name="m"}} {others}\n'
            f'sglang:inter_token_latency_seconds_sum{{model_name="m"}} {0.85 * others}\n'
            f'sglang:time_to_first_token_seconds_sum{{model_name="m"}} {2 * firsts}\n'
        )

    facts = facts_of(run(Metrics(), metrics(seen(0, 5, 300), seen(10, 7, 388))))
    assert facts.number("metrics.streamed_rate") == 9.0
    assert facts.number("metrics.generation_rate") == 0


def test_a_histogram_without_its_sum_has_no_mean() -> None:
    def seen(at: int, count: int) -> str:
        return scrape(at, 3, 100) + f'sglang:time_to_first_token_seconds_count{{model_name="m"}} {count}\n'

    assert "metrics.ttft_ms" not in facts_of(run(Metrics(), metrics(seen(0, 5), seen(10, 7))))


def test_one_scrape_gives_gauges_and_no_rate() -> None:
    facts = facts_of(run(Metrics(), metrics(scrape(0, 3, 100))))
    assert facts.number("metrics.running_reqs") == 3
    assert "metrics.generation_rate" not in facts
    assert "metrics.window_s" not in facts


def test_each_fact_quotes_its_sample_of_stage_zero() -> None:
    findings = run(Metrics(), metrics(scrape(0, 3, 100), scrape(10, 5, 1100)))
    running = next(f for f in findings if "metrics.running_reqs" in f.facts)
    assert running.artifact == "metrics/2.prom"
    assert running.excerpt == 'sglang:num_running_reqs{pp_rank="0",tp_rank="0"} 5'
    assert running.at == "2026-05-02T10:00:10+00:00"


def test_data_parallel_ranks_are_kept_by_rank() -> None:
    text = 'sglang:num_queue_reqs{dp_rank="0"} 4\nsglang:num_queue_reqs{dp_rank="1"} 0\n'
    facts = facts_of(run(Metrics(), metrics(text)))
    assert facts.number("metrics.queue_reqs") == 4
    assert facts.numbers("metrics.queue_reqs_by_dp") == {"DP0": 4, "DP1": 0}


def test_text_without_a_metric_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="no metric"):
        run(Metrics(), metrics("404 page not found\n"))


def test_scrapes_that_did_not_come_are_told_beside_the_facts_of_those_that_did() -> None:
    why = "scrape 2 of 3 did not come: the connection to box is lost"
    findings = run(Metrics(), metrics(with_remark(scrape(0, 3, 100), why)))
    assert facts_of(findings).number("metrics.running_reqs") == 3
    (unread,) = [finding for finding in findings if "tool.unread" in finding.facts]
    assert unread.facts["tool.unread"] == [f"metrics/1.prom of box: {why}"]
    assert unread.excerpt.endswith(why)
