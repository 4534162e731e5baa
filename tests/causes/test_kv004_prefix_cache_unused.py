"""KV004: shared prefixes that are computed again, and nothing else."""

from ppagent.causes.kv004_prefix_cache_unused import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

OFF = {"args.disable_radix_cache": True, "args.dp_size": 1}
SCATTERED = {
    "args.dp_size": 8,
    "args.disable_radix_cache": False,
    "args.load_balance_method": "total_tokens",
    "bench.dataset": ["generated-shared-prefix"],
    "prefill.cached_share": 0.08,
}


def test_a_cache_that_is_off_while_prompts_share_a_system_prompt_supports_it() -> None:
    values = {**OFF, "stated.sentences": ["All prompts share a 3,000-token system prompt"]}
    assert judged(CAUSE, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.unset == ("--disable-radix-cache",)


def test_ranks_fed_by_load_that_find_nothing_in_their_caches_support_it() -> None:
    assert judged(CAUSE, SCATTERED).state == "supported"
    remedies = CAUSE.advise(facts_of(SCATTERED)).remedies
    assert remedies[0].change.set == {"--load-balance-method": "round_robin"}
    assert remedies[1].kind == "operator"


def test_a_cache_that_is_off_is_no_finding_by_itself() -> None:
    judgement = judged(CAUSE, OFF)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "bench.results"


def test_a_cache_that_is_off_with_random_prompts_is_refuted() -> None:
    judgement = judged(CAUSE, {**OFF, "bench.dataset": ["random-ids"], "prefill.cached_share": 0.0})
    assert judgement.state == "refuted"
    assert "share nothing" in judgement.against[0].says


def test_a_cache_that_finds_much_is_refuted_even_with_shared_prompts() -> None:
    values = {**SCATTERED, "prefill.cached_share": 0.78}
    assert judged(CAUSE, values).state == "refuted"


def test_the_same_context_length_is_no_shared_prefix() -> None:
    values = {"prefill.cached_share": 0.0, "stated.sentences": ["Both runs used the same context length"]}
    assert judged(CAUSE, values).state == "cannot_tell"


def test_the_seed_case_and_a_healthy_server_do_not_support_it() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "cannot_tell"
