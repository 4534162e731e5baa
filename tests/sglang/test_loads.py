"""`/v1/loads` and `/get_load`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import ToolError
from ppagent.sglang.loads import parse_loads


def test_v1_loads_gives_each_dp_rank() -> None:
    body = {
        "version": "0.5.23",
        "loads": [
            {
                "dp_rank": 1,
                "num_running_reqs": 4,
                "num_waiting_reqs": 2,
                "num_used_tokens": 575,
                "max_total_num_tokens": 16384,
                "max_running_requests": 2048,
                "token_usage": 0.0351,
                "gen_throughput": 11.51,
                "cache_hit_rate": 0.6589,
                "queues": {"waiting": 2, "grammar": 1, "odd": "x"},
            },
            {"dp_rank": 0, "num_waiting_reqs": 3},
        ],
    }
    loads = parse_loads(json.dumps(body))
    first = loads.ranks[0]
    assert (first.dp_rank, first.slot_running, first.waiting, first.used_tokens) == (1, 4, 2, 575)
    assert first.token_usage == 0.0351
    assert loads.waiting == 5


def test_get_load_counts_running_and_waiting_together() -> None:
    loads = parse_loads('[{"dp_rank": 0, "num_reqs": 9, "num_waiting_reqs": 2, "num_tokens": 77}]')
    assert (loads.ranks[0].slot_running, loads.ranks[0].waiting, loads.ranks[0].used_tokens) == (7, 2, 77)


def test_the_bare_number_of_0_4_10_is_tokens() -> None:
    loads = parse_loads('{"load": 512}')
    assert [rank.used_tokens for rank in loads.ranks] == [512]
    assert loads.waiting is None


@pytest.mark.parametrize(
    "text", ["", "<html>", "{}", '{"loads": 1.5e999}', "null", '{"loads": "many"}', '{"loads": true}']
)
def test_anything_else_is_a_tool_error(text: str) -> None:
    with pytest.raises(ToolError, match="/v1/loads"):
        parse_loads(text)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["dp_rank", "num_reqs", "queues", "token_usage"]), st.none() | st.text(max_size=3)
        )
    )
)
def test_rows_with_odd_values_are_read_as_far_as_they_go(rows: list[dict[str, object]]) -> None:
    assert len(parse_loads(json.dumps(rows)).ranks) == len(rows)
