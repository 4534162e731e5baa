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
    assert (batch.tokens_per_s, batch.queue, batch.graph, batch.graph_label) == (1397.13, 12279, None, None)


def test_decode_line_of_0_4_10_ends_with_a_comma() -> None:
    batch = decode(
        "Decode batch. #running-req: 8, #token: 754, token usage: 0.05, cuda graph: True, "
        "gen throughput (token/s): 10.56, #queue-req: 3, "
    )
    assert (batch.graph, batch.graph_label, batch.queue, batch.extra) == (True, "cuda", 3, {})


def test_decode_line_of_0_5_4_carries_the_iteration() -> None:
    batch = decode(
        "Decode batch [1234], #running-req: 8, #token: 754, token usage: 0.05, npu graph: False, "
        "gen throughput (token/s): 10.56, #queue-req: 0, "
    )
    assert (batch.iteration, batch.graph, batch.graph_label) == (1234, False, "npu")


def test_speculation_and_occupancy_of_0_5_23_are_read() -> None:
    batch = decode(
        "Decode batch, #running-req: 2, #token: 10, token usage: 0.05, accept len: 2.17, accept rate: 0.54, "
        "cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0, est. decode TFLOPS/s (per GPU): 1.50, "
        "est. read BW (GB/s per GPU): 900.00, est. write BW (GB/s per GPU): 2.00, fwd occupancy: 12.34%, "
        "fwd+idle occupancy: 56.00%"
    )
    assert (batch.accept_len, batch.accept_rate) == (2.17, 0.54)
    assert (batch.fwd_occupancy_percent, batch.fwd_idle_occupancy_percent) == (12.34, 56.0)
    assert (batch.tflops_per_s, batch.read_gb_per_s, batch.write_gb_per_s) == (1.5, 900.0, 2.0)
    assert batch.extra == {}


def test_hybrid_pools_are_kept_apart_and_the_fullest_counts() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #full token: 2642688, full token usage: 0.71, #swa token: 12, "
        "swa token usage: 0.06, mamba num: 9, mamba usage: 0.90, cuda graph: True, gen throughput (token/s): 38.00, "
        "#queue-req: 0"
    )
    assert (batch.full_token_usage, batch.swa_token_usage, batch.mamba_usage) == (0.71, 0.06, 0.90)
    assert batch.token_usage == 0.90
    assert (batch.tokens, batch.swa_tokens, batch.mamba_num) == (2642688, 12, 9)


def test_fields_of_a_decode_server_of_a_pd_pair_are_read() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #token: 5, token usage: 0.10, pre-allocated usage: 0.20, #prealloc-req: 1, "
        "#transfer-req: 2, #retracted-req: 3, cuda graph: True, gen throughput (token/s): 38.00, #queue-req: 0, "
    )
    assert (batch.preallocated_usage, batch.prealloc_reqs, batch.transfer_reqs, batch.retracted_reqs) == (0.2, 1, 2, 3)


def test_a_field_of_a_later_version_is_kept_as_text() -> None:
    batch = decode(
        "Decode batch, #running-req: 4, #token: 5, token usage: 0.10, largest-len: 77, mood: good, cuda graph: True, "
        "gen throughput (token/s): 38.00, #queue-req: 0"
    )
    assert batch.extra == {"largest-len": "77", "mood": "good"}
    assert batch.queue == 0


def test_prefill_line_of_0_5_3() -> None:
    batch = prefill(
        "Prefill batch. #new-seq: 2, #new-token: 65, #cached-token: 63, token usage: 0.03, #running-req: 1, "
        "#queue-req: 4, "
    )
    assert (batch.new_seqs, batch.new_tokens, batch.cached_tokens) == (2, 65, 63)
    assert (batch.running, batch.queue, batch.pending_tokens, batch.input_tokens_per_s) == (1, 4, None, None)


def test_prefill_line_of_0_5_23() -> None:
    batch = prefill(
        "Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, full token usage: 0.40, "
        "swa token usage: 0.10, "
        "#running-req: 3, #queue-req: 0, #pending-token: 157704, #bootstrap-req: 1, #inflight-req: 2, "
        "cuda graph: False, "
        "input throughput (token/s): 824.28, est. prefill TFLOPS/s (per GPU): 33.00, fwd occupancy: 99.00%"
    )
    assert (batch.pending_tokens, batch.input_tokens_per_s, batch.token_usage) == (157704, 824.28, 0.40)
    assert (batch.bootstrap_reqs, batch.inflight_reqs, batch.graph) == (1, 2, False)
    assert batch.fwd_occupancy_percent == 99.0


def test_the_pd_prefill_lines_of_0_4_x_name_their_queues_differently() -> None:
    batch = prefill(
        "Prefill batch. #new-seq: 1, #new-token: 8, #cached-token: 0, token usage: 0.00, #unbootstrapped-req: 5, "
        "#queue-req: 1, #transferring-req: 6, gap_latency: 1.112"
    )
    assert (batch.bootstrap_reqs, batch.queue, batch.inflight_reqs, batch.gap_s) == (5, 1, 6, 1.112)


@pytest.mark.parametrize("message", ["", "Decode", "Decode batches are slow", "Load weight begin.", "decode batch, x"])
def test_other_messages_are_no_batch(message: str) -> None:
    assert parse_batch(message) is None


@pytest.mark.parametrize("text", ["nan", "inf", "1.5", "x", ""])
def test_a_count_that_is_no_whole_number_is_kept_as_text(text: str) -> None:
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
