import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.prompts import FilePrompts, Span, WordPrompts, parse_span, read_prompts
from ppagent.errors import UserError


def test_words_have_the_length_asked_for_in_the_servers_own_tokens() -> None:
    prompts = WordPrompts(Span(100, 100), Span(5, 5), seed=1, tokens_per_word=2.0)
    assert len(prompts.next().text.split()) == 50


def test_the_same_seed_gives_the_same_load_and_another_one_other_words() -> None:
    def drawn(seed: int) -> list[tuple[str, int]]:
        prompts = WordPrompts(Span(10, 20), Span(5, 50), seed)
        return [(prompt.text, prompt.output_tokens) for prompt in (prompts.next() for _ in range(20))]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert len({text for text, _ in drawn(1)}) == 20


@given(st.integers(1, 500), st.integers(0, 500))
def test_a_length_is_read_as_it_is_written(low: int, more: int) -> None:
    span = parse_span(f"{low}-{low + more}")
    assert parse_span(str(span)) == span == Span(low, low + more)


@pytest.mark.parametrize("text", ["0", "5-2", "x", "", "-4", "3-"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_span(text)


def test_prompts_come_from_lines_of_text_or_json(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("one\n\n" + json.dumps({"prompt": "two"}) + "\n" + json.dumps({"text": "three"}) + "\n{no json\n")
    assert read_prompts(path) == ("one", "two", "three", "{no json")


def test_a_prompt_may_hold_what_ends_a_line_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("one\u2028still one\x0cand more\r\ntwo\n", encoding="utf-8", newline="")
    assert read_prompts(path) == ("one\u2028still one\x0cand more", "two")


@pytest.mark.parametrize("text", ["", "\n\n", '{"messages": []}\n'])
def test_a_file_without_prompts_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text(text)
    with pytest.raises(UserError, match="prompt"):
        read_prompts(path)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_prompts(tmp_path / "none")


def test_repeating_is_known() -> None:
    prompts = FilePrompts(["a", "b"], "x", Span(1, 1), 1)
    assert {prompts.next().text, prompts.next().text} == {"a", "b"}
    assert not prompts.repeated
    prompts.next()
    assert prompts.repeated
