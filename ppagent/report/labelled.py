"""A plan or a result of labelled lines (`  traffic    own load, ...`), wrapped so that no command in it is torn."""

import re
from collections.abc import Iterator

from ppagent.report.lines import wrapped

BY_HAND = "  by hand:"
"""Behind this line stand commands to copy, and nothing else."""
_LABELLED = re.compile(r"(?P<label>  [a-z][a-z ]{0,9} {2,}|  [a-z]{10} |[A-Z][A-Z ]*  )(?P<text>\S.*)")
"""`  way back   ...`, or the outcome in front: `CANNOT TELL  ...`."""
_TO_THE_LETTER = re.compile(r"\s*(?:[-+@]|the new command:|\$ )")
_COMMAND_INDENT = 14
"""From here on a line is a command or a file's content that belongs to the step above it."""


def fitted(text: str, width: int) -> str:
    """`text` in lines of at most `width` columns, as far as words allow; a command, a diff and a file's lines stay."""
    return "\n".join(_lines(text, width))


def _lines(text: str, width: int) -> Iterator[str]:
    head, found, by_hand = text.partition(f"\n{BY_HAND}")
    for line in head.split("\n"):
        yield from _fitted(line, width)
    if found:
        yield from f"{BY_HAND}{by_hand}".split("\n")


def _fitted(line: str, width: int) -> Iterator[str]:
    indent = len(line) - len(line.lstrip())
    if len(line) <= width or indent >= _COMMAND_INDENT or _TO_THE_LETTER.match(line):
        yield line
        return
    labelled = _LABELLED.fullmatch(line)
    first, said = (labelled["label"], labelled["text"]) if labelled is not None else (" " * indent, line.lstrip())
    # What begins at the margin is a sentence of its own; its next lines stand as far in as the labels.
    behind = None if indent else " " * 11
    for row in wrapped(said, width, first, behind):
        yield row.text
