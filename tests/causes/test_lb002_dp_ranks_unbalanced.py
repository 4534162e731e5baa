"""LB002: some DP ranks carry what others should."""

from ppagent.causes.kv004_prefix_cache_unused import CAUSE as KV004
from ppagent.causes.lb002_dp_ranks_unbalanced import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

UNEVEN = {
    "args.dp_size": 4,
    "args.load_balance_method": "round_robin",
    "engine.version": "0.5.10",
    "decode.by_dp": {
        "DP0": {"running": 64, "queue": 10, "token_usage": 0.9, "lines": 50},
        "DP1": {"running": 8, "queue": 0, "token_usage": 0.1, "lines": 50},
        "DP2": {"running": 6, "queue": 0, "token_usage": 0.1, "lines": 50},
        "DP3": {"running": 10, "queue": 0, "token_usage": 0.1, "lines": 50},
    },
}


def by_dp(*running: float) -> dict[str, dict[str, float]]:
    return {f"DP{rank}": {"running": runs, "queue": 0} for rank, runs in enumerate(running)}


def test_one_full_rank_beside_empty_ones_supports_it() -> None:
    judgement = judged(CAUSE, UNEVEN)
    assert judgement.state == "supported"
    assert any("wait on DP0 while DP1 has no queue" in o.says for o in judgement.because)


def test_the_method_is_one_that_the_version_knows() -> None:
    assert CAUSE.advise(facts_of(UNEVEN)).remedies[0].change.set == {"--load-balance-method": "total_tokens"}
    older = CAUSE.advise(facts_of({**UNEVEN, "engine.version": "0.5.5"})).remedies[0]
    assert older.change.set == {"--load-balance-method": "shortest_queue"}


def test_counters_by_rank_tell_it_as_well() -> None:
    values = {
        "args.dp_size": 2,
        "metrics.running_reqs_by_dp": {"DP0": 100, "DP1": 2},
        "metrics.queue_reqs_by_dp": {"DP0": 30, "DP1": 0},
    }
    assert judged(CAUSE, values).state == "supported"


def test_even_ranks_refute_it() -> None:
    assert judged(CAUSE, {"args.dp_size": 4, "decode.by_dp": by_dp(31, 32, 30, 33)}).state == "refuted"


def test_a_handful_of_requests_is_never_even() -> None:
    assert judged(CAUSE, {"args.dp_size": 4, "decode.by_dp": by_dp(2, 1, 0, 1)}).state != "supported"


def test_prefixes_scattered_over_even_ranks_support_it_beside_kv004() -> None:
    values = {
        "args.dp_size": 8,
        "args.load_balance_method": "total_tokens",
        "bench.dataset": ["generated-shared-prefix"],
        "prefill.cached_share": 0.1,
    }
    assert judged(CAUSE, values).state == "supported"
    assert judged(KV004, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.set == {"--load-balance-method": "round_robin"}


def test_one_rank_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_unseen_ranks_are_asked_for() -> None:
    judgement = judged(CAUSE, {"args.dp_size": 4})
    assert judgement.state == "cannot_tell"
    assert {probe.tool for probe in judgement.probes} == {"logs.decode", "http.metrics"}
