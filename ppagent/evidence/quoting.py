"""Text from a server is somebody else's: stripped of control characters and cut before it is quoted."""

import re
import unicodedata

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles, links and other strings to the terminal
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
_REMOVED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def quotable(text: str, limit: int) -> str:
    """The first `limit` characters of `text` without control characters, terminal sequences and bidi marks.

    Cut without a mark, so that an excerpt of plain text is still a piece of its artifact.
    """
    return without_controls(text)[:limit].strip()


def without_controls(text: str) -> str:
    """`text` without control characters, terminal sequences and bidi marks; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    plain = _ESCAPE_SEQUENCE.sub("", text)
    return "".join(c for c in plain if c in "\n\t" or unicodedata.category(c) not in _REMOVED)
