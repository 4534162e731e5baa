"""Small changes to a text that leave the rest of it alone."""

import re
from collections.abc import Sequence

from ppagent.sglang.launch.words import ItemWriter, Word, Writer


def splice(text: str, start: int, end: int, new: str) -> str:
    """`text` with `text[start:end]` replaced."""
    return text[:start] + new + text[end:]


def respell(raw: str, value: str, writer: Writer) -> str:
    """`value` in the quotes that `raw` stands in, where they can hold it; otherwise as the writer would."""
    if isinstance(writer, ItemWriter):
        return writer.spell(value)
    if re.fullmatch(r"'[^']*'", raw) and "'" not in value:
        return f"'{value}'"
    if re.fullmatch(r'"[^"\\]*"', raw) and not re.search(r'["\\$`]', value):
        return f'"{value}"'
    return writer.spell(value)


def inline(option: str, value: str, writer: Writer) -> str:
    """`--flag=value` as one word."""
    if isinstance(writer, ItemWriter):
        return writer.spell(f"{option}={value}")
    return f"{option}={writer.spell(value)}"


def replace_words(text: str, words: Sequence[Word], values: Sequence[str]) -> str:
    """`text` with a row of words replaced by others, each in the quotes of the one it follows."""
    first, last = words[0], words[-1]
    spelled = []
    for at, value in enumerate(values):
        model = words[min(at, len(words) - 1)]
        spelled.append(respell(text[model.start : model.end], value, model.writer))
    gap = first.writer.between(text, words[0].end, words[1].start) if len(words) > 1 else None
    glue = gap if gap is not None else first.writer.between(text, 0, 0)
    return splice(text, first.start, last.end, glue.join(spelled))


def cut_words(text: str, words: Sequence[Word]) -> str:
    """`text` without a row of words."""
    start, end = words[0].writer.removal(text, words[0].start, words[-1].end)
    return splice(text, start, end, "")
