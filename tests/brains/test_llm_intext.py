import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.brains.llm.intext import call_in_text, split_thoughts, whole_part

KNOWN = {"look", "finish"}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "look", "arguments": {"tools": ["a"]}}',
        '```json\n{"name": "look", "arguments": {"tools": ["a"]}}\n```',
        'First I look.\n```\n{"tool": "look", "parameters": {"tools": ["a"]}}\n```\nThen more.',
        '<tool_call>\n{"name": "look", "arguments": {"tools": ["a"]}}\n</tool_call>',
        '{"function": {"name": "look", "arguments": "{\\"tools\\": [\\"a\\"]}"}}',
        '```json\n{"name": "look", "arguments": {"tools": ["a"]}}',
    ],
)
def test_one_call_in_the_text_is_found_in_every_common_form(text: str) -> None:
    call = call_in_text(text, KNOWN)

    assert call is not None
    assert (call.name, json.loads(call.arguments)) == ("look", {"tools": ["a"]})


@pytest.mark.parametrize(
    "text",
    [
        "I would call look.",
        '{"name": "shell", "arguments": {}}',
        '```\n{"name": "look"}\n```\n```\n{"name": "finish"}\n```',
        "[1, 2]",
        "{",
        '{"look": {}}',
        "",
    ],
)
def test_an_unknown_name_and_two_different_calls_are_none(text: str) -> None:
    assert call_in_text(text, KNOWN) is None


def test_a_list_that_ran_on_until_the_answer_was_cut_off_counts_as_far_as_it_is_whole() -> None:
    text = '```json\n{"name": "look", "arguments": {"tools": ["logs.decode", "gpu.samples", "gpu.sam'

    call = call_in_text(text, KNOWN)

    assert call is not None and json.loads(call.arguments) == {"tools": ["logs.decode", "gpu.samples"]}


@pytest.mark.parametrize("text", ['{"a": 1, "b', '{"a": 1, "b": [1, 2, {"c": "x,}]', '{"a": 1, "b": [1, 2], '])
def test_cut_off_json_is_closed_at_its_last_whole_item(text: str) -> None:
    found = whole_part(text)

    assert isinstance(found, dict) and found["a"] == 1


@given(
    st.recursive(
        st.integers() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner)
    )
)
def test_any_cut_through_json_is_none_or_a_value(value: object) -> None:
    text = json.dumps(value)

    for end in range(len(text)):
        json.dumps(whole_part(text[:end]))


@given(st.text(max_size=200))
def test_any_text_can_be_looked_through(text: str) -> None:
    said, thought = split_thoughts(text)

    assert call_in_text(text, KNOWN) is None
    assert isinstance(said, str) and isinstance(thought, str)
