"""Secrets of a JSON document masked where they stand: every other byte of it stays, and it stays JSON."""

import json
import re
from dataclasses import dataclass
from typing import Any

from ppagent.evidence.masking import MASK, mask_value
from ppagent.evidence.secret_names import is_secret_name
from ppagent.record.mask_text import masked_text

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def mask_json(text: str) -> str | None:
    """`text` with each secret value replaced; None where it is no JSON.

    A value is secret by its name, whole lists and objects included, by the option in front of it in an argument list,
    by the `name` beside a `value`, or by its shape.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _Walk(text).masked()


@dataclass
class _Container:
    """An object or a list on the way to a value."""

    is_object: bool
    key: str = ""
    after_colon: bool = False
    option: str = ""
    """In a list, the secret option that the next item belongs to."""
    named: str = ""
    """In an object, what its `name` is."""


class _Walk:
    """One pass over the tokens of valid JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [(match.group(), match.start()) for match in _TOKEN.finditer(text)]
        self._open: list[_Container] = []
        self._out: list[str] = []
        self._copied = 0

    def masked(self) -> str:
        at = 0
        while at < len(self._tokens):
            at = self._step(at)
        return "".join((*self._out, self._text[self._copied :]))

    def _step(self, at: int) -> int:
        """Takes the token at `at`, or a whole value that is masked; where to go on."""
        token, start = self._tokens[at]
        here = self._open[-1] if self._open else _Container(is_object=False)
        if token in ("}", "]"):
            self._open.pop()
        elif token == ",":
            here.after_colon = False
        elif token == ":":
            here.after_colon = True
        elif here.is_object and not here.after_colon:
            here.key = json.loads(token)
            self._replace(start, token, masked_text(here.key))
        else:
            return self._value(at, here)
        return at + 1

    def _value(self, at: int, here: _Container) -> int:
        token, start = self._tokens[at]
        name = self._name_of(here)
        if token in ("{", "["):
            end = self._end_of(at)
            stop = self._tokens[end][1] + 1
            if is_secret_name(name) and _changes(name, json.loads(self._text[start:stop])):
                self._put(start, stop, json.dumps(MASK))
                return end + 1
            self._open.append(_Container(is_object=token == "{", key="" if token == "{" else name))
            return at + 1
        value = json.loads(token)
        masked = mask_value(name, value) if is_secret_name(name) else masked_text(value) if _is_text(value) else value
        self._replace(start, token, masked)
        self._remember(here, value)
        return at + 1

    @staticmethod
    def _name_of(here: _Container) -> str:
        """What the next value in a container is called."""
        if here.option:
            return here.option
        if here.is_object and here.key == "value" and here.named:
            return here.named
        return here.key

    @staticmethod
    def _remember(here: _Container, value: Any) -> None:
        if here.is_object:
            here.named = value if here.key == "name" and isinstance(value, str) else here.named
        else:
            here.option = value if _is_text(value) and value.startswith("-") and is_secret_name(value) else ""

    def _end_of(self, at: int) -> int:
        depth = 0
        for place in range(at, len(self._tokens)):
            token = self._tokens[place][0]
            depth += (token in ("{", "[")) - (token in ("}", "]"))
            if not depth:
                return place
        raise AssertionError("valid JSON closes what it opens")

    def _replace(self, start: int, token: str, masked: object) -> None:
        if masked != json.loads(token):
            self._put(start, start + len(token), json.dumps(masked))

    def _put(self, start: int, stop: int, new: str) -> None:
        self._out += (self._text[self._copied : start], new)
        self._copied = stop


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _changes(name: str, value: Any) -> bool:
    return bool(mask_value(name, value) != value)
