"""A reader of the shell syntax found in launch commands and start scripts. It runs nothing and substitutes nothing
but variables the text itself assigns."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ppagent.sglang.launch.regions import Region, cut, quoted_inside
from ppagent.sglang.launch.words import CONTINUATION, ShellWriter, Word

Value = str | tuple[Word, ...]
"""A variable's value: text, or the words of an array."""

_REDIRECT = re.compile(r"\d*(?:&>>?|>>|>\||[<>]&-?|<<<|<<-?|[<>])")
_VARIABLE = re.compile(r"\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*)(?P<rest>[^{}]*)\}|[0-9@*#?$!-])")
_ARRAY_START = re.compile(r"[A-Za-z_]\w*\+?=\Z")
PLACEHOLDER = re.compile(r"<[^\s<>|;&()](?:[^\n<>|;&()]{0,78}[^\s<>|;&()])?>(?![\w$&(])")
"""A gap for the reader to fill in, as reports have them: `<MODEL_PATH>`, `<your host>:30000`. Behind what a shell would
take for an input and an output in one (`<in >out`) a file's name follows at once, or the bracket stands apart."""


def commands(region: Region, variables: Mapping[str, Value]) -> Iterator[tuple[Word, ...]]:
    """The simple commands of `region` in order, redirections left out.

    `variables` is looked at while reading, so a caller may add what a command assigns before it takes the next one.
    """
    return _Reader(region, variables).run()


def assignment_name(word: str) -> str | None:
    """NAME of a `NAME=value` word, None for any other word."""
    match = re.match(r"([A-Za-z_]\w*)\+?=", word)
    return match.group(1) if match else None


@dataclass
class _Piece:
    """A word as it is being read."""

    text: list[str] = field(default_factory=list)
    opaque: bool = False
    splits: bool = False
    array: tuple[Word, ...] | None = None


@dataclass
class _Reader:
    region: Region
    variables: Mapping[str, Value]
    at: int = 0

    def run(self) -> Iterator[tuple[Word, ...]]:
        words: list[Word] = []
        while self._more():
            if self._skip_blank():
                continue
            redirect = _REDIRECT.match(self.region.chars, self.at)
            if redirect and not PLACEHOLDER.match(self.region.chars, self.at):
                self._skip_redirect(redirect.end())
            elif self._here() in "\n;&|()":
                self.at += 1
                if words:
                    yield tuple(words)
                words = []
            else:
                words += self._word()
        if words:
            yield tuple(words)

    def _more(self) -> bool:
        return self.at < len(self.region.chars)

    def _here(self) -> str:
        return self.region.chars[self.at]

    def _skip_blank(self) -> bool:
        """Passes one blank, continued line or comment."""
        chars = self.region.chars
        if continued := CONTINUATION.match(chars, self.at):
            self.at = continued.end()
            return True
        if chars[self.at] in " \t\r" or (chars[self.at] == "\n" and self.region.folded):
            self.at += 1
            return True
        if chars[self.at] == "#" and not self.region.folded:
            stop = chars.find("\n", self.at)
            self.at = len(chars) if stop < 0 else stop
            return True
        return False

    def _skip_redirect(self, end: int) -> None:
        self.at = end
        while self._more() and self._here() in " \t":
            self.at += 1
        if self._more() and self._here() not in "\n;&|()<>":
            self._word()

    def _word(self) -> list[Word]:
        begin = self.at
        piece = _Piece()
        while self._more() and not self._ends_word():
            if self._here() == "(" and not _ARRAY_START.search("".join(piece.text)):
                break
            self._step(piece)
        if self.at == begin:
            self.at += 1
        word = self._finish(begin, piece)
        if piece.array is not None and assignment_name(word.value) is None:
            return list(piece.array)
        parts = word.value.split()
        if piece.splits and len(parts) != 1:
            return [replace(word, value=part, shared=True, inner=None) for part in parts]
        return [word]

    def _ends_word(self) -> bool:
        here = self._here()
        if here == "<" and PLACEHOLDER.match(self.region.chars, self.at):
            return False
        return here in " \t\r\n;&|)<>" or bool(CONTINUATION.match(self.region.chars, self.at))

    def _step(self, piece: _Piece) -> None:
        match self._here():
            case "'":
                self._single_quoted(piece)
            case '"':
                self._double_quoted(piece)
            case "\\":
                piece.text.append(self.region.chars[self.at + 1 : self.at + 2])
                self.at += 2
            case "$":
                self._dollar(piece, quoted=False)
            case "`":
                self._raw(piece, self._closing("`", self.at + 1))
            case "(":
                self._array(piece)
            case "<" if gap := PLACEHOLDER.match(self.region.chars, self.at):
                self._raw(piece, gap.end())
            case other:
                piece.text.append(other)
                self.at += 1

    def _closing(self, mark: str, start: int) -> int:
        stop = self.region.chars.find(mark, start)
        return len(self.region.chars) if stop < 0 else stop + 1

    def _raw(self, piece: _Piece, end: int) -> None:
        """Takes a substitution as it is written: its value is unknown."""
        piece.text.append(self.region.chars[self.at : end])
        piece.opaque = True
        self.at = end

    def _single_quoted(self, piece: _Piece) -> None:
        end = self._closing("'", self.at + 1)
        piece.text.append(self.region.chars[self.at + 1 : end].removesuffix("'"))
        self.at = end

    def _double_quoted(self, piece: _Piece) -> None:
        self.at += 1
        while self._more() and self._here() != '"':
            if self._here() == "$":
                self._dollar(piece, quoted=True)
            elif self._here() == "`":
                self._raw(piece, self._closing("`", self.at + 1))
            elif escaped := re.compile(r'\\(["\\$`]|\r?\n)').match(self.region.chars, self.at):
                piece.text.append(escaped.group(1).strip("\r\n"))
                self.at = escaped.end()
            else:
                piece.text.append(self._here())
                self.at += 1
        self.at += 1

    def _dollar(self, piece: _Piece, *, quoted: bool) -> None:
        chars = self.region.chars
        if chars.startswith("$(", self.at):
            self._raw(piece, self._balanced(self.at + 1))
            return
        if not quoted and chars[self.at + 1 : self.at + 2] in ("'", '"'):
            self.at += 1
            return
        match = _VARIABLE.match(chars, self.at)
        if match is None:
            piece.text.append("$")
            self.at += 1
            return
        value = self._value_of(match)
        if value is None:
            self._raw(piece, match.end())
        elif isinstance(value, tuple):
            piece.array = value
        else:
            piece.text.append(value)
            piece.splits = piece.splits or not quoted
        self.at = match.end()

    def _value_of(self, match: re.Match[str]) -> Value | None:
        name, rest = match["bare"] or match["name"], match["rest"] or ""
        if name is None:
            return None
        value = self.variables.get(name)
        if isinstance(value, tuple):
            return value if rest in ("[@]", "[*]") else None
        if rest.startswith((":-", "-", ":=", "=")):
            default = rest.lstrip(":").removeprefix("-").removeprefix("=")
            return value or default
        return value if rest == "" else None

    def _balanced(self, opened: int) -> int:
        depth = 0
        for at in range(opened, len(self.region.chars)):
            depth += {"(": 1, ")": -1}.get(self.region.chars[at], 0)
            if depth == 0:
                return at + 1
        return len(self.region.chars)

    def _array(self, piece: _Piece) -> None:
        end = self._balanced(self.at)
        inside = cut(self.region, self.at + 1, end - 1)
        lines = (words for words in commands(inside, self.variables))
        piece.array = tuple(word for words in lines for word in words)
        self.at = end

    def _finish(self, begin: int, piece: _Piece) -> Word:
        places = self.region.places
        end = min(self.at, len(self.region.chars))
        return Word(
            value="".join(piece.text),
            start=places[begin],
            end=places[end],
            writer=ShellWriter(self.region.escapes, self.region.folded),
            opaque=piece.opaque,
            items=piece.array or (),
            inner=quoted_inside(self.region, begin, end),
        )
