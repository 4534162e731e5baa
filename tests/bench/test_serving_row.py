import json

import pytest

from ppagent.bench.serving_row import row_of
from ppagent.errors import ToolError

ROW = {
    "median_ttft_ms": 310.0,
    "output_lens": [3, 3, 3, 0],
    "itls": [[0.1, 0.1], [0.2], [0.1, 0.1], []],
    "ttfts": [0.2, 0.6, 0.3, 0.0],
    "errors": ["", "", "", "HTTP 500"],
    "generated_texts": ["secret words", "b", "c", ""],
    "server_info": {"api_key": "secret"},
}


def test_first_tokens_without_text_are_counted_apart_and_failures_too() -> None:
    row = row_of(json.dumps(ROW) + "\n", "beside the server on box")
    assert row["median_ttft_ms"] == 310.0
    assert row["median_ttft_with_text_ms"] == 250.0
    assert row["failed"] == 1
    assert row["warnings"] == [
        "the first token of 1 of 3 requests had no text of its own: bench_serving counts their TTFT from a later one "
        "(250 ms, median, for the others)"
    ]
    assert (row["route"], row["ttft_formula"]) == ("beside the server on box", "t_first_text - t_sent")


def test_neither_answers_nor_the_servers_keys_stay_in_the_row() -> None:
    assert "secret" not in json.dumps(row_of(json.dumps(ROW), ""))


def test_where_every_token_had_text_nothing_is_remarked() -> None:
    row = row_of(json.dumps({**ROW, "output_lens": [3, 2, 3, 0]}), "")
    assert "warnings" not in row
    assert row["median_ttft_with_text_ms"] == 300.0


def test_a_row_without_details_is_taken_as_it_is() -> None:
    row = row_of('{"output_throughput": 5.0}', "loopback")
    assert row["output_throughput"] == 5.0
    assert "failed" not in row


@pytest.mark.parametrize("text", ["", "\n", "{", "[1]"])
def test_what_is_no_row_is_said(text: str) -> None:
    with pytest.raises(ToolError, match="bench_serving wrote no"):
        row_of(text, "")
