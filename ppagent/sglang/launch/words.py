"""Words of a launch text with their places in it, and how a word beside them has to be written."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Protocol

import yaml

from ppagent.sglang.launch.regions import Escape, Region, apply_escape

CONTINUATION = re.compile(r"\\[ \t]*\r?\n")
BLANKS_BEFORE = re.compile(r"(?:[ \t]|\\[ \t]*\r?\n)*\Z")


class Writer(Protocol):
    """Writes words the way their neighbours are written."""

    def spell(self, value: str) -> str:
        """`value` as one word."""

    def between(self, text: str, left_end: int, right_start: int) -> str:
        """What stands between two neighbouring words, to be used again between new ones."""

    def removal(self, text: str, start: int, end: int) -> tuple[int, int]:
        """The span to cut so that the words in `text[start:end]` go without leaving a hole."""


@dataclass(frozen=True)
class Word:
    """One word as the program receives it, and the span it takes in the text, quotes included."""

    value: str
    start: int
    end: int
    writer: Writer
    opaque: bool = False
    """Holds a variable or substitution whose value the text does not tell."""
    shared: bool = False
    """Came out of a variable together with other words, so it cannot be edited by itself."""
    items: tuple["Word", ...] = ()
    """The words of `NAME=( ... )`."""
    inner: Region | None = None
    """What is inside its quotes, where the whole word is one quoted piece or one YAML scalar."""


@dataclass(frozen=True)
class ShellWriter:
    """Words separated by blanks or continued lines."""

    escapes: tuple[Escape, ...] = ()
    folded: bool = False

    def spell(self, value: str) -> str:
        word = shlex.quote(value)
        if "'" in value:
            word = '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"'
        for escape in self.escapes:
            word = apply_escape(word, escape)
        return word

    def between(self, text: str, left_end: int, right_start: int) -> str:
        gap = text[left_end:right_start]
        pattern = r"[ \t]*\r?\n[ \t]*" if self.folded else r"[ \t]*\\[ \t]*\r?\n[ \t]*"
        return gap if re.fullmatch(pattern, gap) else " "

    def removal(self, text: str, start: int, end: int) -> tuple[int, int]:
        before = BLANKS_BEFORE.search(text[:start])
        begin = before.start() if before else start
        opens_line = text[:begin].endswith("\n")
        if opens_line and text[end : end + 1] in ("\n", ""):
            return begin - 1, end
        if opens_line or begin in (start, 0):
            after = re.match(r"(?:[ \t]|\\[ \t]*\r?\n)*", text[end:])
            return start, end + (after.end() if after else 0)
        return begin, end


@dataclass(frozen=True)
class ItemWriter:
    """Items of a YAML or JSON list: `flow` in brackets, otherwise one `- item` a line."""

    flow: bool
    quote: str = ""
    indent: str = ""

    def spell(self, value: str) -> str:
        return spell_scalar(value, self.quote, self.flow)

    def between(self, text: str, left_end: int, right_start: int) -> str:
        if not self.flow:
            return f"\n{self.indent}- "
        gap = text[left_end:right_start]
        return gap if re.fullmatch(r"\s*,\s*", gap) else ", "

    def removal(self, text: str, start: int, end: int) -> tuple[int, int]:
        if self.flow:
            before = re.search(r",\s*\Z", text[:start])
            if before:
                return before.start(), end
            after = re.match(r"\s*,\s*", text[end:])
            return start, end + (after.end() if after else 0)
        line = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end)
        return line, len(text) if stop < 0 else stop + 1


def spell_scalar(value: str, quote: str, flow: bool) -> str:
    """`value` as a YAML string, in the given quotes or plain where a plain scalar reads back as the same string."""
    if quote == "'" and "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    if quote == "" and _plain_reads_back(f"[{value}]" if flow else f"- {value}\n", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain_reads_back(document: str, value: str) -> bool:
    try:
        return bool(yaml.safe_load(document) == [value])
    except yaml.YAMLError:
        return False
