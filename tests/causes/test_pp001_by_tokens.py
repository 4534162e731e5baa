"""PP001 from a log alone: the tokens held bound the requests in flight, and with them the slots that can be filled."""

from typing import Any

from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.causes.fill import fill_readings


def held_tokens(**changed: float) -> dict[str, Any]:
    """A log alone of eight stages: 14 requests at most in the mean, 8 of them in one micro-batch."""
    facts: dict[str, Any] = {
        "args.pp_size": 8,
        "args.tp_size": 1,
        "internal.max_running_requests": 2048,
        "decode.lines": 50,
        "args.chunked_prefill_size": 4096,
        "decode.tokens.mean": 680,
        "decode.running_req.mean": 7.9,
        "decode.running_req.p95": 8,
        "prefill.new_seq.mean": 1.0,
        "prefill.lines": 100,
        "prefill.new_tokens": 4800,
        "prefill.cached_tokens": 0,
    }
    return {**facts, **{name.replace("__", "."): value for name, value in changed.items()}}


def test_a_log_alone_tells_the_fill_from_tokensheld_tokens() -> None:
    log_only = held_tokens()
    (reading,) = fill_readings(facts_of(log_only))
    assert reading.way == "tokens"
    assert reading.filled < 2
    judgement = judged(cause_of("PP001"), log_only)
    assert judgement.state == "supported"
    (spread,) = judgement.cause.advise(facts_of(log_only)).remedies
    # 680 tokens at prompts of 48 are at most 14 requests, two for each of eight slots.
    assert spread.change.set == {"--pp-max-micro-batch-size": "2"}
    assert "at most 14" in spread.title and "only as the most" in spread.risks[0]


def test_a_system_prompt_that_all_requests_share_is_held_once_and_makes_no_full_ring_look_empty() -> None:
    # 104 requests, 13 in each of eight slots: 900 tokens that all share, 100 of each prompt's own, 50 generated.
    shared = held_tokens(
        decode__tokens__mean=900 + 104 * 150,
        decode__running_req__mean=13,
        decode__running_req__p95=13,
        prefill__new_tokens=10_000,
        prefill__cached_tokens=90_000,
    )
    (reading,) = fill_readings(facts_of(shared))
    # 16500 / 100 = 165 are the most: eight slots of 13 and more.
    assert reading.filled == 8
    assert "prompts of 1000 with 100 of their own are at most 165 requests" in reading.says
    assert judged(cause_of("PP001"), shared).state != "supported"


def test_prompts_that_come_out_of_the_prefix_cache_as_a_whole_bound_nothing() -> None:
    assert fill_readings(facts_of(held_tokens(prefill__new_tokens=100, prefill__cached_tokens=99_900))) == ()


def test_a_micro_batch_that_holds_more_than_the_tokens_allow_shows_that_the_mean_prompt_is_not_its_own() -> None:
    # Long prompts that answer in a word beside short ones that stay: 100 run, which the mean prompt of 5050 denies.
    mixed = held_tokens(
        args__chunked_prefill_size=16_384,
        decode__tokens__mean=20_000,
        decode__running_req__mean=12.5,
        decode__running_req__p95=14,
        prefill__new_tokens=505_000,
    )
    assert fill_readings(facts_of(mixed)) == ()
    assert cause_of("PP001").advise(facts_of(mixed)).remedies == ()


def test_a_limit_by_the_tokens_held_has_room_for_the_peak_and_not_for_the_mean_alone() -> None:
    # 1440 tokens at prompts of 48 are 30 requests, four for each of eight slots.
    (spread,) = cause_of("PP001").advise(facts_of(held_tokens(decode__tokens__max=1440))).remedies
    assert spread.change.set == {"--pp-max-micro-batch-size": "4"}
    assert "at most 30" in spread.title


def test_a_bound_that_leaves_the_fullest_slot_as_it_is_advises_no_limit() -> None:
    roomy = held_tokens(decode__tokens__mean=6800)
    advice = cause_of("PP001").advise(facts_of(roomy))
    assert advice.remedies == ()
    assert [lever.lever for lever in advice.declined] == ["--pp-async-batch-depth", "--pp-max-micro-batch-size"]
    assert "nothing here tells how many are in flight" in advice.declined[1].why


def test_a_prompt_that_shares_next_to_nothing_is_told_by_one_figure() -> None:
    (reading,) = fill_readings(facts_of(held_tokens(prefill__cached_tokens=10)))
    assert reading.says.startswith("680 tokens held at prompts of 48 are at most 14 requests")
