"""Prompts of a wanted length, all different from their first word on, so that no prefix cache answers in their place.

Either words in random order (a made-up text: it routes through a mixture of experts otherwise than real text does), or
the user's own prompts out of a file. Which it was is said beside every result.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppagent.errors import UserError

_TEXT = """
    time year people way day man thing woman life child world school state family student group country problem hand
    part place case week company system program question work government number night point home water room mother area
    money story fact month lot right study book eye job word business issue side kind head house service friend father
    power hour game line end member law car city name team minute idea body back parent face level office door health
    person art war history party result change morning reason girl guy moment air teacher force order market table river
    light music paper ground letter answer price figure nature summer window garden doctor picture animal street field
    road force garden color moon island valley bridge engine silver winter forest stone camera planet signal cotton
"""
WORDS = tuple(dict.fromkeys(_TEXT.split()))
PROBE_WORDS = 256


@dataclass(frozen=True)
class Span:
    """A length in tokens: one number, or any between two."""

    low: int
    high: int

    def pick(self, rng: random.Random) -> int:
        return self.low if self.low == self.high else rng.randint(self.low, self.high)

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


@dataclass(frozen=True)
class Prompt:
    """What is sent, and how many tokens are asked for."""

    text: str
    output_tokens: int


class WordPrompts:
    """Words in random order. `tokens_per_word` comes from one answer of the server (`prompt_tokens`)."""

    name = "random-words"

    def __init__(self, input_tokens: Span, output_tokens: Span, seed: int, tokens_per_word: float = 1.0) -> None:
        self._input, self._output = input_tokens, output_tokens
        self._rng = random.Random(seed)
        self._tokens_per_word = tokens_per_word

    def next(self) -> Prompt:
        wanted = self._input.pick(self._rng)
        words = max(1, round(wanted / self._tokens_per_word))
        return Prompt(words_text(self._rng, words), self._output.pick(self._rng))


class FilePrompts:
    """The user's prompts, in an order drawn once, over and over."""

    def __init__(self, texts: Sequence[str], name: str, output_tokens: Span, seed: int) -> None:
        self.name = name
        self._output = output_tokens
        self._rng = random.Random(seed)
        self._texts = list(texts)
        self._rng.shuffle(self._texts)
        self.given = 0

    def next(self) -> Prompt:
        text = self._texts[self.given % len(self._texts)]
        self.given += 1
        return Prompt(text, self._output.pick(self._rng))

    @property
    def repeated(self) -> bool:
        """Whether a prompt was sent twice, so that the prefix cache may have answered for the server."""
        return self.given > len(self._texts)


Prompts = WordPrompts | FilePrompts


def words_text(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def read_prompts(path: Path) -> tuple[str, ...]:
    """Prompts of a file: one a line, as text or as a JSON object with `prompt` or `text`. Raises UserError."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.", "Give a text file with one prompt a line.") from error
    texts = tuple(_text(line, path) for line in lines)
    if not texts:
        raise UserError(f"{path} holds no prompt.", "Give one prompt a line.")
    return texts


def _text(line: str, path: Path) -> str:
    if not line.startswith("{"):
        return line
    try:
        value = json.loads(line)
    except ValueError:
        return line
    text = value.get("prompt", value.get("text"))
    if not isinstance(text, str):
        raise UserError(f"A line of {path} has neither `prompt` nor `text`.", "Give one prompt a line.")
    return text


def parse_span(text: str) -> Span:
    """`64` or `20-60`. Raises ValueError."""
    low, dash, high = text.partition("-")
    span = Span(int(low), int(high) if dash else int(low))
    if not 1 <= span.low <= span.high:
        raise ValueError(f"{text} is no length of 1 token or more")
    return span
