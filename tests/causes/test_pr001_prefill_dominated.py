"""PR001: the work is prefill, and nothing is broken."""

from ppagent.causes.pr001_prefill_dominated import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

LONG_PROMPTS = {
    "args.pp_size": 1,
    "prefill.share_of_lines": 0.8,
    "prefill.tokens_per_line.mean": 7800,
    "prefill.cached_share": 0.0,
    "decode.graph_true_share": 1.0,
    "bench.levels": [level(4, 60, input_len=30000, output_len=200, mean_ttft_ms=9000, mean_tpot_ms=18, streamed=True)],
}


def test_long_prompts_and_short_answers_support_it() -> None:
    judgement = judged(CAUSE, LONG_PROMPTS)
    assert judgement.state == "supported"
    assert any("prompts of 30000 and answers of 200 tokens" in o.says for o in judgement.because)
    assert CAUSE.advise(facts_of(LONG_PROMPTS)).remedies[0].kind == "operator"


def test_the_servers_counters_tell_it_as_well() -> None:
    values = {
        "metrics.prompt_rate": 20000.0,
        "metrics.generation_rate": 300.0,
        "prefill.share_of_lines": 0.7,
        "prefill.tokens_per_line.mean": 8000,
    }
    assert judged(CAUSE, values).state == "supported"


def test_prompts_that_the_cache_holds_are_no_prefill() -> None:
    values = {
        **LONG_PROMPTS,
        "prefill.cached_share": 0.995,
        "prefill.share_of_lines": 0.1,
        "bench.levels": [level(4, 60, input_len=30000, output_len=200)],
    }
    assert judged(CAUSE, values).state == "refuted"


def test_many_small_prefill_lines_alone_are_no_finding() -> None:
    values = {"prefill.share_of_lines": 0.6, "prefill.tokens_per_line.mean": 40}
    assert judged(CAUSE, values).state == "cannot_tell"


def test_even_lengths_refute_it_on_a_healthy_server() -> None:
    assert judged(CAUSE, healthy_server()).state == "refuted"


def test_unknown_lengths_are_asked_for_in_the_seed_case() -> None:
    judgement = judged(CAUSE, seed_case())
    assert judgement.state == "cannot_tell"
    assert {probe.tool for probe in judgement.probes} == {"bench.results", "logs.prefill"}
