"""Reads argument words as argparse would with one version's flags, or by spelling alone without a catalogue."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppagent.sglang.flags.flag import Catalogue, Flag, FlagValue
from ppagent.sglang.launch.spelling import canonical_dest
from ppagent.sglang.launch.words import Word

_NEGATIVE_NUMBER = re.compile(r"-\d+\Z|-\d*\.\d+\Z")
_SUFFIXED_INT = re.compile(r"(\d{1,15}(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)\Z")
_FACTORS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


@dataclass(frozen=True)
class Option:
    """One option as written, and what the parser takes it for."""

    word: Word
    written: str
    """As it stands in the text, without its value; empty for a model path given without `--model-path`."""
    dest: str
    values: tuple[str, ...]
    value_words: tuple[Word, ...] = ()
    """Empty where the value hangs on the option: `--flag=value`."""
    spelling: str = ""
    """The full spelling the parser completes it to; empty for an unknown or ambiguous option."""
    flag: Flag | None = None
    """None without a catalogue, and for an unknown or ambiguous option."""
    candidates: tuple[str, ...] = ()
    """The spellings an ambiguous abbreviation could stand for."""
    known: bool = True

    @property
    def inline(self) -> bool:
        """Whether it is written `--flag=value`."""
        return bool(self.written) and bool(self.values) and not self.value_words

    @property
    def ambiguous(self) -> bool:
        return len(self.candidates) > 1

    @property
    def span(self) -> tuple[int, int]:
        """From its first character to the last of its values."""
        return self.word.start, (self.value_words or (self.word,))[-1].end

    @property
    def opaque(self) -> bool:
        """Whether its value is a variable that the text does not tell."""
        return any(word.opaque for word in (self.word, *self.value_words))


@dataclass(frozen=True)
class _Head:
    """An option word taken apart."""

    written: str
    inline: str | None
    flag: Flag | None
    spelling: str
    candidates: tuple[str, ...]
    known: bool


def read_options(words: Sequence[Word], catalogue: Catalogue | None) -> tuple[tuple[Option, ...], tuple[Word, ...]]:
    """The options in order, and the words that belong to none."""
    options: list[Option] = []
    loose: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word.value == "--":
            return tuple(options), (*loose, *words[at + 1 :])
        head = _head(word.value, catalogue)
        if head is None:
            loose.append(word)
            at += 1
            continue
        at += 1
        following = _following(words, at, catalogue)
        taken = () if head.inline is not None else following[: _wanted(head, following)]
        options.append(_option(word, head, taken))
        at += len(taken)
    return tuple(options), tuple(loose)


def _option(word: Word, head: _Head, taken: Sequence[Word]) -> Option:
    values = (head.inline,) if head.inline is not None else tuple(w.value for w in taken)
    dest = canonical_dest(head.flag.dest if head.flag else head.written)
    return Option(word, head.written, dest, values, tuple(taken), head.spelling, head.flag, head.candidates, head.known)


def _head(text: str, catalogue: Catalogue | None) -> _Head | None:
    """`text` as an option, None where argparse takes it for a value."""
    if len(text) < 2 or not text.startswith("-"):
        return None
    name, equals, value = text.partition("=")
    inline = value if equals else None
    if catalogue is None:
        is_option = text.startswith("--") and not re.search(r"\s", name)
        return _Head(name, inline, None, name, (), known=True) if is_option else None
    match = catalogue.match(text) if text in catalogue.by_spelling else catalogue.match(name)
    if match.flag is not None:
        written, inline = (text, None) if match.spelling == text else (name, inline)
        return _Head(written, inline, match.flag, match.spelling or name, (), known=True)
    if match.ambiguous:
        return _Head(name, inline, None, "", match.candidates, known=False)
    if _NEGATIVE_NUMBER.match(text) or " " in text:
        return None
    return _Head(name, inline, None, "", (), known=False)


def _following(words: Sequence[Word], at: int, catalogue: Catalogue | None) -> Sequence[Word]:
    """The words from `at` up to the next option."""
    stop = at
    while stop < len(words) and words[stop].value != "--" and _head(words[stop].value, catalogue) is None:
        stop += 1
    return words[at:stop]


def _wanted(head: _Head, following: Sequence[Word]) -> int:
    """How many of the words that follow the option takes. Of a flag that nobody declared, a variable behind its first
    value may hold options as well as a value."""
    offered = len(following)
    if head.flag is None:
        return next((at for at, word in enumerate(following) if at and word.opaque), offered)
    if not head.flag.takes_value:
        return 0
    match head.flag.nargs:
        case None | "?":
            return min(1, offered)
        case int(count):
            return min(count, offered)
        case _:
            return offered


def typed_value(option: Option, earlier: FlagValue = None) -> FlagValue:
    """What the server-args field gets from `option`; a value that does not convert stays text."""
    flag = option.flag
    if flag is None:
        return _guess(option.values)
    match flag.action:
        case "store_true":
            return True
        case "store_false":
            return False
        case "store_const":
            return flag.const
        case "boolean_optional":
            return not option.spelling.startswith("--no-")
        case "deprecated" if not option.values:
            return flag.const if flag.const is not None else True
    converted = [convert(value, flag) for value in option.values]
    if flag.action == "append":
        return [*(earlier if isinstance(earlier, list) else []), *converted]
    if flag.nargs in (None, "?"):
        return converted[0] if converted else flag.const
    return converted


def convert(text: str, flag: Flag) -> FlagValue:
    """One value as the flag's type has it; text that is not of that type comes back as it is."""
    try:
        match flag.type:
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return bool(text)
            case "nullable_str":
                return None if text in ("", "None") else text
    except ValueError:
        return text
    if flag.type == "human_readable_int":
        return _suffixed(text)
    return text


def _suffixed(text: str) -> FlagValue:
    """256Ki and 25.6k as the newer versions read them (`srt/utils/common.py: human_readable_int`, 0.5.10)."""
    match = _SUFFIXED_INT.fullmatch(text.strip())
    if match:
        return int(float(match.group(1)) * _FACTORS[match.group(2)])
    return int(text) if re.fullmatch(r"\s*-?\d{1,18}\s*", text) else text


def _guess(values: Iterable[str]) -> FlagValue:
    """Without a declared type: a number where it reads as one, True where nothing follows."""
    guessed: list[FlagValue] = []
    for value in values:
        if re.fullmatch(r"-?\d{1,18}", value):
            guessed.append(int(value))
        elif re.fullmatch(r"-?\d*\.\d+", value):
            guessed.append(float(value))
        else:
            guessed.append(value)
    return True if not guessed else guessed[0] if len(guessed) == 1 else guessed
