from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.quoting import quotable


def test_terminal_colours_and_titles_are_removed_whole() -> None:
    assert quotable("\x1b[31;1mred\x1b[0m \x1b]0;title\x07plain \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", 99) == (
        "red plain link"
    )


def test_bidi_and_zero_width_characters_are_removed() -> None:
    assert quotable("a\u202eb\u2066c\u200bd\ufeffe\u2028f", 99) == "abcdef"


def test_control_characters_are_removed_but_tabs_and_line_ends_stay() -> None:
    assert quotable("a\x00b\r\n\tc\x07\x7f\x9b5md", 99) == "ab\n\tcd"


def test_text_is_cut_without_a_mark() -> None:
    assert quotable("0123456789", 4) == "0123"


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S")), max_size=50))
def test_plain_text_is_a_piece_of_itself(text: str) -> None:
    assert quotable(text, 20) == text[:20].strip()


@given(st.text(max_size=100))
def test_nothing_that_moves_a_cursor_is_left(text: str) -> None:
    assert not set(quotable(text, 100)) & {"\x1b", "\r", "\x08", "\x9b", "\u202e", "\x00"}
