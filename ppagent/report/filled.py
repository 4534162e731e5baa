"""Plain text in lines that fit the terminal, words and flags unbroken."""

import textwrap

from ppagent.report.room import columns


def filled(text: str, indent: str) -> list[str]:
    """`text` in lines that begin with `indent`."""
    return textwrap.wrap(
        text,
        columns(),
        initial_indent=indent,
        subsequent_indent=indent or "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
