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
    plain = _ESCAPE_SEQUENCE.sub("", text)
    kept = (c for c in plain if c in "\n\t" or unicodedata.category(c) not in _REMOVED)
    return "".join(kept)[:limit].strip()
