import io

import pytest

from ppagent.chat.glyphs import fitting
from ppagent.chat.screen import PlainScreen
from ppagent.report.lines import Line


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("a · b → c", "utf-8", "a · b → c"),
        ("a · b → c", None, "a · b → c"),
        ("a · b → c", "ascii", "a - b -> c"),
        ("a · b", "iso8859-1", "a · b"),
        ("a → ü 漢", "iso8859-1", "a -> \\xfc \\u6f22"),
        ("plain", "no-such-encoding", "plain"),
    ],
)
def test_a_terminal_is_shown_signs_that_it_has(text: str, encoding: str | None, shown: str) -> None:
    assert fitting(text, encoding) == shown


def test_a_screen_without_unicode_shows_no_escape_for_a_dot_between_words() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="backslashreplace")

    PlainScreen(out).show([Line("SGLang 0.5.11 · PP8")])

    assert raw.getvalue() == b"SGLang 0.5.11 - PP8\n"
