"""Text from a server is somebody else's: stripped of control characters and cut before it is quoted."""

import unicodedata


def quotable(text: str, limit: int) -> str:
    """The first `limit` characters of `text` without control, ANSI and bidi characters. Cut without a mark, so that
    an excerpt of plain text is still a piece of its artifact."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))
    return "".join(kept)[:limit].strip()
