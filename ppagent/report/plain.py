"""The last guard before text reaches a screen or a file: whoever wrote it, it cannot steer a terminal."""

from ppagent.evidence.quoting import quotable

TEXT_LIMIT = 4_000
COMMAND_LIMIT = 200_000
"""A launch command may be a whole Kubernetes manifest."""


def plain(text: str) -> str:
    """A statement without control characters."""
    return quotable(text, TEXT_LIMIT)


def plain_command(text: str) -> str:
    """Text to copy: line by line without control characters, indentation kept."""
    lines = (quotable(f"|{line}", COMMAND_LIMIT)[1:] for line in text.split("\n"))
    return "\n".join(lines)[:COMMAND_LIMIT]
