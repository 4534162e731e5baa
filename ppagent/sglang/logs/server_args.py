"""The `server_args=` line: every resolved argument of the server, as Python text, read without running any of it.

Up to 0.5.18 it is the repr of a dataclass, `ServerArgs(model_path='...', ...)`; from 0.5.19 the repr of a dict (read
in `srt/entrypoints/engine.py`). Values may hold nested calls (`CudaGraphConfig(decode=...)`, 0.5.14+) and reprs that
are no Python (`<Mode.AUTO: 1>`). The line may be cut short: what came before the cut is still good.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

ArgValue: TypeAlias = "None | bool | int | float | str | list[ArgValue] | dict[str, ArgValue]"

MASK = "[masked]"
_SECRET = re.compile(r"(?:^|_)(?:api_key|token|secret|password|watermark_key\w*)$")
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({<]|[\])}>]|,|[^'"\[\](){}<>,]+|.""", re.DOTALL)
_SIMPLE: dict[str, ArgValue] = {"None": None, "True": True, "False": False, "[]": [], "{}": {}}
_PLAIN_STRING = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"")


@dataclass(frozen=True, slots=True)
class ServerArgs:
    """Arguments by field name; those whose value is no literal are kept as their text.
    `complete` is False where the line was cut, or somebody left some out. Passwords, tokens and keys are masked."""

    values: Mapping[str, ArgValue]
    complete: bool


def parse_server_args(message: str) -> ServerArgs | None:
    """Read a message that begins with `server_args=`; None where what follows is neither known form."""
    text = message.removeprefix("server_args=").strip()
    call = re.match(r"\w+\(", text)
    if call is None and not text.startswith("{"):
        return None
    form: Literal["call", "dict"] = "dict" if call is None else "call"
    body = text[1 if call is None else call.end() :]
    values: dict[str, ArgValue] = {}
    pieces = list(_pieces(body))
    for piece in pieces:
        name, value = _name_and_value(piece, form)
        if not name:
            continue
        values[name] = _read(value)
        if is_secret(name) and isinstance(values[name], str):
            values[name] = MASK
    elided = any(piece.strip() in ("...", "\N{HORIZONTAL ELLIPSIS}") for piece in pieces)
    complete = text.endswith(")" if form == "call" else "}") and not elided
    return ServerArgs(values, complete)


def is_secret(name: str) -> bool:
    """Whether the argument of this name is a key, token or password."""
    return _SECRET.search(name) is not None


def _pieces(body: str) -> Iterator[str]:
    """The parts between top-level commas, up to the bracket that closes the whole."""
    depth, start = 0, 0
    for match in _TOKEN.finditer(body):
        token = match.group()
        if token in "[({<":
            depth += 1
        elif token in "])}>":
            depth -= 1
            if depth < 0:
                yield body[start : match.start()]
                return
        elif token == "," and depth == 0:
            yield body[start : match.start()]
            start = match.end()
    yield body[start:]


def _name_and_value(piece: str, form: Literal["call", "dict"]) -> tuple[str, str]:
    if form == "call":
        name, equals, value = piece.partition("=")
        return (name.strip(), value.strip()) if equals and name.strip().isidentifier() else ("", "")
    match = re.match(r"\s*(['\"])(?P<name>[^'\"]+)\1:\s*", piece)
    return (match["name"], piece[match.end() :].strip()) if match else ("", "")


def _read(text: str) -> ArgValue:
    """The value; what cannot be read is its own text."""
    if text in _SIMPLE:
        return _SIMPLE[text]
    plain = _PLAIN_STRING.fullmatch(text)
    if plain is not None:
        return plain[1] if plain[1] is not None else plain[2]
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _value(node: ast.expr) -> ArgValue:
    """The value of a literal; a call such as `Config(a=1)` becomes its keywords. Raises ValueError for the rest."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _value(operand)
            if isinstance(number, int | float):
                return -number
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {_key(key): _value(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(args=[], keywords=keywords):
            return {keyword.arg: _value(keyword.value) for keyword in keywords if keyword.arg is not None}
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
    raise ValueError(f"no literal: {ast.dump(node)[:80]}")


def _key(node: ast.expr) -> str:
    value = _value(node)
    return value if isinstance(value, str) else repr(value)
