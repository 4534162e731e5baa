import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.events import read_final, tokens_so_far


def event(text: str, tokens: int, **meta: object) -> bytes:
    return json.dumps({"text": text, "meta_info": {"completion_tokens": tokens, **meta}}).encode()


@given(st.text(max_size=60), st.integers(0, 10**9))
def test_the_count_is_found_whatever_the_text_says(text: str, tokens: int) -> None:
    assert tokens_so_far(event(f'{text}"completion_tokens": 99,{text}', tokens)) == tokens


def test_an_event_without_a_count_has_none() -> None:
    assert tokens_so_far(b'{"text": "x"}') is None
    assert tokens_so_far(b'{"completion_tokens": "many"}') is None


def test_the_last_event_tells_of_the_whole_request() -> None:
    final = read_final(event("hello", 7, prompt_tokens=3, cached_tokens=2, spec_accept_length=1.5))
    assert (final.tokens, final.prompt_tokens, final.cached_tokens, final.text) == (7, 3, 2, "hello")
    assert final.accept_length == 1.5
    assert final.error == ""


@pytest.mark.parametrize(
    ("payload", "word"),
    [
        (b'{"error": {"message": "the scheduler died"}}', "scheduler died"),
        (b'{"error": "no"}', "no"),
        (b"{broken", "no JSON"),
        (b"[]", "no object"),
        (event("x", 2, finish_reason={"type": "abort", "message": "out of memory"}), "out of memory"),
    ],
)
def test_a_request_that_ended_badly_says_why(payload: bytes, word: str) -> None:
    assert word in read_final(payload).error
