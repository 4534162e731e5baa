"""PP005: chunks of one prompt that take every slot."""

from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.evidence.evidence import FactValue

PP005 = cause_of("PP005")

# One 128K prompt in chunks of 8192 over four stages while others decode.
STALLED: dict[str, FactValue] = {
    "engine.version": "0.5.23",
    "args.pp_size": 4,
    "args.chunked_prefill_size": 8192,
    "decode.lines": 120,
    "decode.longest_gap_s": 9.4,
    "prefill.lines": 40,
    "prefill.longest_run": 16,
    "prefill.tokens_per_line.max": 8192,
    "prefill.new_seq.mean": 1.0,
    "prefill.pending_tokens.max": 122880,
}


def test_runs_of_chunks_with_more_pending_and_a_pause_of_decoding_are_a_stall() -> None:
    judgement = judged(PP005, STALLED)
    assert judgement.state == "supported"
    assert any("16 prefill lines in a row with up to 122880 tokens pending" in o.says for o in judgement.because)
    advice = PP005.advise(facts_of(STALLED))
    assert [dict(r.change.set) for r in advice.remedies] == [
        {"--prefill-decode-interval": "1"},
        {"--enable-mixed-chunk": "true"},
        {"--chunked-prefill-size": "4096"},
    ]
    assert advice.declined[0].lever == "--pp-async-batch-depth"


def test_mixed_chunks_are_not_proposed_where_the_version_refuses_them_with_stages() -> None:
    remedies = PP005.advise(facts_of(STALLED | {"engine.version": "0.5.10"})).remedies
    assert all("--enable-mixed-chunk" not in r.change.set for r in remedies)


def test_prompts_that_fit_a_chunk_do_not_stall_however_long_the_run_of_prefill_lines() -> None:
    short = STALLED | {"prefill.tokens_per_line.max": 3000, "prefill.pending_tokens.max": 0}
    assert judged(PP005, short).state == "refuted"


def test_one_stage_or_a_server_that_only_prefills_has_no_such_stall() -> None:
    assert judged(PP005, STALLED | {"args.pp_size": 1}).state == "refuted"
    assert judged(PP005, STALLED | {"args.disaggregation_mode": "prefill"}).state == "refuted"


def test_full_chunks_in_a_row_count_where_the_version_prints_no_pending_tokens() -> None:
    older = dict(STALLED)
    del older["prefill.pending_tokens.max"]
    judgement = judged(PP005, older)
    assert any("chunks filled to 8192 of 8192" in o.says for o in judgement.because)


def test_a_tail_of_token_latency_far_above_its_middle_adds_to_it() -> None:
    rows: FactValue = [level(8, 90, mean_itl_ms=40, median_itl_ms=35, p99_itl_ms=900, input_len=60000)]
    judgement = judged(PP005, {"args.pp_size": 4, "args.chunked_prefill_size": 8192, "bench.levels": rows})
    assert any("p99 900 ms" in o.says for o in judgement.because)


def test_without_prefill_lines_the_probe_asks_for_them() -> None:
    judgement = judged(PP005, {"args.pp_size": 4, "args.chunked_prefill_size": 8192})
    assert judgement.state == "cannot_tell"
    assert [probe.tool for probe in judgement.probes] == ["logs.prefill", "logs.decode"]
