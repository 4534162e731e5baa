"""PP006: prompts that cross the stages in one piece."""

from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.prompts import longest_prompt_tokens
from ppagent.evidence.evidence import FactValue

PP006 = cause_of("PP006")


def long_prompts(chunk: int, tokens: int, concurrency: int = 1, **rest: FactValue) -> dict[str, FactValue]:
    return {
        "args.pp_size": 8,
        "args.chunked_prefill_size": chunk,
        "bench.levels": [level(concurrency, 40, mean_ttft_ms=9000, input_len=tokens)],
        **rest,
    }


def test_chunking_switched_off_with_long_prompts_keeps_one_stage_at_work() -> None:
    values = long_prompts(-1, 32768)
    judgement = judged(PP006, values)
    assert judgement.state == "supported" and "32768" in judgement.because[0].says
    assert PP006.advise(facts_of(values)).remedies[0].change.set == {"--chunked-prefill-size": "2048"}


def test_prompts_of_one_chunk_that_cannot_fill_the_stages_are_cut() -> None:
    values = long_prompts(16384, 16000, concurrency=2)
    assert judged(PP006, values).state == "supported"
    assert PP006.advise(facts_of(values)).remedies[0].change.set == {"--chunked-prefill-size": "1024"}


def test_enough_prompts_at_a_time_fill_the_stages_with_one_chunk_each() -> None:
    assert judged(PP006, long_prompts(16384, 16000, concurrency=32)).state == "refuted"


def test_short_prompts_have_nothing_to_cut_even_with_chunking_off() -> None:
    assert judged(PP006, long_prompts(-1, 200)).state == "refuted"


def test_prompts_of_as_many_chunks_as_stages_pipeline() -> None:
    assert judged(PP006, long_prompts(4096, 32768)).state == "refuted"


def test_dozens_of_equal_chunks_suggest_dynamic_ones() -> None:
    values = long_prompts(4096, 131072, **{"engine.version": "0.5.10"})
    judgement = judged(PP006, values)
    assert judgement.because and judgement.state == "open"
    assert PP006.advise(facts_of(values)).remedies[0].change.set == {"--enable-dynamic-chunking": "true"}
    assert judged(PP006, values | {"args.enable_dynamic_chunking": True}).state == "refuted"


def test_one_stage_has_no_pipeline_of_prefill() -> None:
    assert judged(PP006, long_prompts(-1, 32768) | {"args.pp_size": 1}).state == "refuted"


def test_without_prompt_lengths_the_probe_asks_for_prefill_lines() -> None:
    judgement = judged(PP006, {"args.pp_size": 8, "args.chunked_prefill_size": 8192})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.prefill"


def test_a_line_of_many_short_prompts_is_not_read_as_one_long_prompt() -> None:
    many = longest_prompt_tokens(facts_of({"prefill.tokens_per_line.max": 8192, "prefill.new_seq.mean": 64.0}))
    assert many is not None and many.value == 128
    one = longest_prompt_tokens(
        facts_of(
            {
                "prefill.tokens_per_line.max": 4096,
                "prefill.new_seq.mean": 1.0,
                "prefill.pending_tokens.max": 60000,
            }
        )
    )
    assert one is not None and one.value == 64096
