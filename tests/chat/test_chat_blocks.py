from hypothesis import given
from hypothesis import strategies as st

from ppagent.chat.blocks import Block, finished, rest

MARKDOWN = st.text(st.sampled_from("ab`~ \n-#*"), max_size=200)


def test_a_paragraph_is_finished_at_the_empty_line_behind_it() -> None:
    blocks, tail = finished("One line\nand another.\n\nThe next")

    assert blocks == [Block("One line\nand another.")]
    assert tail == "The next"


def test_code_is_finished_at_its_closing_fence_and_keeps_empty_lines() -> None:
    blocks, tail = finished("Run:\n```sh\ncurl a\n\n  curl b\n```\nThen wait")

    assert blocks == [Block("Run:"), Block("curl a\n\n  curl b", code=True)]
    assert tail == "Then wait"


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    blocks, tail = finished("````\n```\ninside\n```\n````\n")

    assert blocks == [Block("```\ninside\n```", code=True)]
    assert tail == ""


def test_code_in_a_list_loses_the_indentation_of_its_fence_only() -> None:
    blocks, _ = finished("- run\n\n  ```\n  a\n    b\n  ```\n")

    assert blocks[-1] == Block("a\n  b", code=True)


def test_a_line_that_has_not_ended_finishes_nothing() -> None:
    assert finished("text\n``") == ([], "text\n``")


def test_a_fence_that_was_left_open_is_code_all_the_same() -> None:
    assert rest("```sh\ncurl a\ncurl b") == [Block("curl a\ncurl b", code=True)]


@given(MARKDOWN, st.integers(1, 20))
def test_pieces_of_any_size_give_the_same_blocks_as_the_whole(text: str, size: int) -> None:
    whole, end = finished(text)
    blocks: list[Block] = []
    tail = ""
    for at in range(0, len(text), size):
        more, tail = finished(tail + text[at : at + size])
        blocks += more

    assert blocks == whole
    assert tail == end


@given(st.lists(st.sampled_from(["a b", "", "```", "~~~~", "  - a", "    ```"]), max_size=20).map("\n".join))
def test_no_word_is_lost(text: str) -> None:
    blocks, tail = finished(text)
    kept = "".join(block.text for block in [*blocks, *rest(tail)])

    assert kept.count("a") == text.count("a")
