"""`/server_info` of old and new servers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import ToolError
from ppagent.sglang.server_info import ServerInfo, parse_server_info

OLD = {
    "model_path": "/models/m",
    "pp_size": 4,
    "api_key": "sk-not-for-print",
    "max_total_num_tokens": 1000,
    "version": "0.4.10",
    "internal_states": [
        {
            "max_micro_batch_size": 64,
            "last_gen_throughput": 12.5,
            "memory_usage": {"weight": 7.5, "kvcache": 20.0, "token_capacity": 1000, "cuda_graph": 0.5},
        }
    ],
}
NEW = {
    "pp_size": 8,
    "pp_max_micro_batch_size": None,
    "launch_command": "--pp-size 8 --api-key sk-not-for-print --port 1",
    "version": "0.5.23",
    "internal_states": [
        {
            "pp_size": 8,
            "pp_max_micro_batch_size": 256,
            "effective_max_running_requests_per_dp": 2048,
            "last_gen_throughput": 10.6,
            "avg_spec_accept_length": 2.5,
            "memory_usage": {
                "weight": 1.0,
                "kvcache": 2.0,
                "token_capacity": 16384,
                "graph": {"decode": 0.25, "prefill": 0.5, "draft_decode": None},
            },
        },
        {"pp_max_micro_batch_size": 128},
    ],
}


def info(body: object) -> ServerInfo:
    return parse_server_info(json.dumps(body))


def test_an_old_server_names_the_slot_limit_and_graph_memory_differently() -> None:
    found = info(OLD)
    assert (found.version, found.slot_limit, found.max_total_num_tokens) == ("0.4.10", 64, 1000)
    memory = found.states[0].memory
    assert (memory.weights_gib, memory.kv_gib, memory.graph_gib, memory.token_capacity) == (7.5, 20.0, 0.5, 1000)
    assert found.states[0].max_running_requests is None


def test_a_new_server_has_its_effective_values_in_its_state() -> None:
    found = info(NEW)
    assert found.args["pp_max_micro_batch_size"] is None
    assert (found.slot_limit, found.effective("pp_max_micro_batch_size")) == (256, 256)
    state = found.states[0]
    assert (state.max_running_requests, state.last_tokens_per_s, state.accept_len) == (2048, 10.6, 2.5)
    assert state.memory.graph_gib == 0.75
    assert found.max_total_num_tokens == 16384
    assert [each.slot_limit for each in found.states] == [256, 128]


def test_keys_are_masked_wherever_they_stand() -> None:
    for body in (OLD, NEW):
        assert "sk-not-for-print" not in repr(info(body))


def test_one_state_may_come_without_its_list() -> None:
    body = OLD | {"internal_states": OLD["internal_states"][0]}  # type: ignore[index]
    assert info(body).slot_limit == 64


@pytest.mark.parametrize("states", [None, [], "x", [None, 3], {"memory_usage": "none"}])
def test_odd_states_leave_the_rest_readable(states: object) -> None:
    found = info({"version": "0.5.9", "pp_size": 2, "internal_states": states})
    assert (found.version, found.args["pp_size"], found.slot_limit) == ("0.5.9", 2, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<html>502 Bad Gateway</html>", "gave no JSON"),
        ("", "gave no JSON"),
        ("[1, 2]", "a list of 2"),
        ("null", "null"),
        ("3", "a single value"),
        ('"x"', "a text"),
    ],
)
def test_what_is_no_object_is_a_tool_error_that_shows_it(text: str, says: str) -> None:
    with pytest.raises(ToolError, match="/server_info") as caught:
        parse_server_info(text)
    assert says in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["internal_states", "memory_usage", "graph", "version", "pp_max_micro_batch_size"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused_as_a_tool_error(body: object) -> None:
    text = json.dumps(body)
    if isinstance(body, dict):
        parse_server_info(text)
    else:
        with pytest.raises(ToolError):
            parse_server_info(text)
