"""Decode and prefill lines in every form seen from 0.4.6 to 0.5.23."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.batches import DecodeBatch, PrefillBatch, parse_batch


def decode(message: str) -> DecodeBatch:
    batch = parse_batch(message)
    assert isinstance(batch, DecodeBatch)
    return batch


def prefill(message: str) -> PrefillBatch:
    batch = parse_batch(message)
    assert isinstance(batch, PrefillBatch)
    return batch


def test_decode_line_of_0_4_6_has_no_graph_field() -> None:
    batch = decode(
        "Decode batch. #running-req: 1010, #token: 55006, token usage: 0.93, gen throughput (token/s): 1397.13, "
        "#queue-req: 12279"
    )
    assert (batch.running, batch.tokens, batch.token_usage) == (1010, 55006, 0.93)
    assert (batch.tokens_per_s, batch.queue, batch.graph) == (1397.13, 12279, None)


def test_decode_line_of_0_4_10_ends_with_a_comma() -> None:
    batch = decode(
        "Decode batch. #running-req: 8, #token: 754, token usage: 0.05, cuda graph: True, "
        "gen throughput (token/s): 10.56, #queue-req: 3, "
    )
    assert (batch.graph, batch.tokens_per_s, batch.queue) == (True, 10.56, 3)


def test_decode_line_of_0_5_4_carries_the_iteration() -> None:
    batch = decode(
        "Decode batch [1234], #running-req: 8, #token: 754, token usage: 0.05, npu graph: False, "
        "gen throughput (token/s): 10.56, #queue-req: 0, "
    )
    assert (batch.running, batch.graph, batch.queue) == (8, False, 0)


def test_speculation_of_0_5_23_is_read_among_figures_that_nobody_asks_for() -> None:
    batch = decode(
        "Decode batch, #running-req: 2, #token: 10, token usage: 0.05, accept len: 2.17, accept rate: 0.54, "
        "cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0, est. decode TFLOPS/s (per GPU): 1.50, "
        "est. read BW (GB/s per GPU): 900.00, est. write BW (GB/s per GPU): 2.00, fwd occupancy: 12.34%, "
        "fwd+idle occupancy: 56.00%"
    )
    assert (batch.accept_len, batch.accept_rate) == (2.17, 0.54)
    assert (batch.graph, batch.tokens_per_s, batch.queue) == (True, 178.86, 0)


def test_of_a_hybrids_pools_the_fullest_counts() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #full token: 2642688, full token usage: 0.71, #swa token: 12, "
        "swa token usage: 0.06, mamba num: 9, mamba usage: 0.90, cuda graph: True, gen throughput (token/s): 38.00, "
        "#queue-req: 0"
    )
    assert (batch.token_usage, batch.tokens) == (0.90, 2642688)
    assert decode("Decode batch, token usage: 0.20, full token usage: 0.71").token_usage == 0.20


def test_the_line_of_a_decode_server_of_a_pd_pair_is_read() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #token: 5, token usage: 0.10, pre-allocated usage: 0.20, #prealloc-req: 1, "
        "#transfer-req: 2, #retracted-req: 3, cuda graph: True, gen throughput (token/s): 38.00, #queue-req: 0, "
    )
    assert (batch.running, batch.tokens, batch.token_usage, batch.queue) == (4, 5, 0.1, 0)


def test_a_field_of_a_later_version_is_passed_over() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #token: 5, token usage: 0.10, largest-len: 77, mood: good, cuda graph: True, "
        "gen throughput (token/s): 38.00, #queue-req: 0"
    )
    assert (batch.token_usage, batch.graph, batch.queue) == (0.10, True, 0)


def test_prefill_line_of_0_5_3() -> None:
    batch = prefill(
        "Prefill batch. #new-seq: 2, #new-token: 65, #cached-token: 63, token usage: 0.03, #running-req: 1, "
        "#queue-req: 4, "
    )
    assert (batch.new_seqs, batch.new_tokens, batch.cached_tokens) == (2, 65, 63)
    assert (batch.queue, batch.pending_tokens, batch.input_tokens_per_s) == (4, None, None)


def test_prefill_line_of_0_5_23() -> None:
    batch = prefill(
        "Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, full token usage: 0.40, "
        "swa token usage: 0.10, "
        "#running-req: 3, #queue-req: 0, #pending-token: 157704, #bootstrap-req: 1, #inflight-req: 2, "
        "cuda graph: False, "
        "input throughput (token/s): 824.28, est. prefill TFLOPS/s (per GPU): 33.00, fwd occupancy: 99.00%"
    )
    assert (batch.new_tokens, batch.pending_tokens, batch.input_tokens_per_s) == (8192, 157704, 824.28)


def test_the_pd_prefill_lines_of_0_4_x_name_their_queues_differently() -> None:
    batch = prefill(
        "Prefill batch. #new-seq: 1, #new-token: 8, #cached-token: 0, token usage: 0.00, #unbootstrapped-req: 5, "
        "#queue-req: 1, #transferring-req: 6, gap_latency: 1.112"
    )
    assert (batch.new_seqs, batch.new_tokens, batch.queue) == (1, 8, 1)


@pytest.mark.parametrize("message", ["", "Decode", "Decode batches are slow", "Load weight begin.", "decode batch, x"])
def test_other_messages_are_no_batch(message: str) -> None:
    assert parse_batch(message) is None


@pytest.mark.parametrize("text", ["nan", "inf", "1.5", "x", ""])
def test_a_count_that_is_no_whole_number_is_none(text: str) -> None:
    batch = decode(f"Decode batch, #running-req: {text}, #queue-req: 2")
    assert batch.running is None
    assert batch.queue == 2


@given(st.text(max_size=200))
def test_no_body_makes_the_parser_fail(body: str) -> None:
    assert isinstance(parse_batch("Decode batch, " + body), DecodeBatch)
    assert isinstance(parse_batch("Prefill batch. " + body), PrefillBatch)


@given(st.permutations(["#running-req: 8", "#token: 754", "token usage: 0.05", "cuda graph: True", "#queue-req: 1"]))
def test_the_order_of_fields_does_not_matter(parts: list[str]) -> None:
    batch = decode("Decode batch, " + ", ".join(parts))
    assert (batch.running, batch.tokens, batch.token_usage, batch.graph, batch.queue) == (8, 754, 0.05, True, 1)
