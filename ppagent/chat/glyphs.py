"""Signs that a terminal of another encoding than UTF-8 cannot show, by what it can."""

PLAINER = str.maketrans(
    {"·": "-", "•": "*", "–": "-", "—": "-", "→": "->", "≈": "~", "×": "x", "…": "...", "─": "-", "│": "|", "“": '"',
     "”": '"', "‘": "'", "’": "'"}
)  # fmt: skip


def fitting(text: str, encoding: str | None) -> str:
    """The text as it can be shown: what has no sign in `encoding` and nothing plainer stands there as an escape."""
    if text.isascii() or encoding is None or encoding.lower().startswith("utf"):
        return text
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAINER).encode("ascii", "backslashreplace").decode("ascii")
    return text
