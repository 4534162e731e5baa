"""A few lines of a log, as people paste them: what they decide, and what they do not."""

import pytest
from builders import facts_of, judged

from ppagent.causes import (
    cg002_batch_above_graphs,
    kv001_pool_exhausted,
    kv002_admission_capped,
)
from ppagent.evidence.evidence import FactValue

POOL = kv001_pool_exhausted.CAUSE
CAP = kv002_admission_capped.CAUSE

BRIMMING: dict[str, FactValue] = {
    "launch.tp_size": 16,
    "launch.max_running_requests": 1536,
    "launch.command": "python -m sglang.launch_server --tp 16 --max-running-requests 1536",
    "decode.lines": 1,
    "decode.running_req.p95": 92,
    "decode.queue_req.mean": 990.0,
    "decode.queue_share": 1.0,
    "decode.token_usage.p50": 0.92,
    "decode.token_usage.max": 0.92,
    "log.lines": 6,
}


def test_a_queue_below_the_cap_before_a_pool_nine_tenths_full_waits_for_room() -> None:
    judgement = judged(POOL, BRIMMING)
    assert judgement.state == "supported"
    assert judgement.because[0].says.startswith("the KV pool is typically 92% used and 990 requests wait")


def test_a_few_lines_without_a_retraction_clear_no_pool_that_is_nearly_full() -> None:
    values: dict[str, FactValue] = {**BRIMMING, "decode.token_usage.p50": 0.88, "decode.token_usage.max": 0.88}
    assert judged(POOL, values).state != "refuted"
    idle: dict[str, FactValue] = {**values, "decode.queue_req.mean": 0.0, "decode.queue_share": 0.0}
    assert judged(POOL, idle).state == "refuted"


def test_requests_at_the_cap_wait_for_the_cap_and_not_for_room() -> None:
    assert judged(POOL, {**BRIMMING, "launch.max_running_requests": 92}).state != "supported"


def test_where_nothing_was_thrown_back_neither_a_cap_nor_a_reserve_is_advised() -> None:
    full: dict[str, FactValue] = {**BRIMMING, "decode.token_usage.p50": 0.96, "decode.token_usage.max": 0.97}
    (remedy,) = POOL.advise(facts_of(full)).remedies
    assert (remedy.kind, dict(remedy.change.set)) == ("operator", {})
    assert "--mem-fraction-static" in remedy.title
    thrashing = POOL.advise(facts_of({**full, "trouble.kv_pool_full": 9})).remedies
    assert [flag for remedy in thrashing for flag in remedy.change.set] == [
        "--max-running-requests", "--schedule-conservativeness",
    ]  # fmt: skip


@pytest.mark.parametrize(("lines", "share", "state"), [(8, 0.75, "supported"), (3, 0.667, "open")])
def test_a_border_of_graph_use_counts_with_several_lines_on_either_side(lines: int, share: float, state: str) -> None:
    values: dict[str, FactValue] = {
        "decode.lines": lines,
        "decode.graph_true_share": share,
        "decode.graph_true_running_max": 28,
        "decode.graph_false_running_min": 36,
        "decode.running_req.p95": 46,
    }
    assert judged(cg002_batch_above_graphs.CAUSE, values).state == state


def test_requests_that_wait_beside_a_pool_half_empty_ask_for_the_cap() -> None:
    values: dict[str, FactValue] = {
        "log.tags": ["TP"],
        "decode.running_req.p95": 32,
        "decode.queue_req.mean": 68.0,
        "decode.queue_share": 1.0,
        "decode.token_usage.max": 0.01,
    }
    judgement = judged(CAP, values)
    assert 0.25 < judgement.posterior < 0.5
    assert (
        judgement.because[0].says == "68 requests wait on average, in 100% of the decode lines, though the KV pool "
        "is 1% used at its highest"
    )
    assert [probe.tool for probe in judgement.probes] == ["http.info"]
    assert judged(CAP, {**values, "decode.token_usage.max": 0.7}).because == ()
