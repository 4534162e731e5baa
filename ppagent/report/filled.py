"""Plain text in lines of 80 columns, words and flags unbroken."""

import textwrap

WIDTH = 80


def filled(text: str, indent: str) -> list[str]:
    """`text` in lines that begin with `indent`."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent or "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
