"""A streamed answer put together again: text, thoughts, calls in pieces, tokens."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from ppagent.brains.llm.model import Called, Reply, Spent

MOST_CHARACTERS = 200_000
"""An endpoint that never ends its answer is cut off here."""

_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"""SGLang and vLLM set thoughts apart under the first name, some gateways under the second."""


class CutOff(Exception):
    """The answer ended without the model having finished, or is none."""


class TooSlow(Exception):
    """The answer came, but not in time."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _Gathered:
    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    open: dict[int, _Call] = field(default_factory=dict)
    """By its number on the wire, the call that goes on."""
    spent: Spent = Spent()
    finish: str = ""
    characters: int = 0


def reply_of_stream(chunks: Iterable[Any], in_time: Callable[[], bool]) -> Reply:
    """The whole reply. Raises CutOff where it has no end, or `in_time` says that it takes too long."""
    gathered = _Gathered()
    for chunk in chunks:
        _take(chunk, gathered)
        if gathered.characters > MOST_CHARACTERS:
            raise CutOff("the answer did not end")
        if not in_time():
            raise TooSlow("the answer took too long")
    if not gathered.finish:
        raise CutOff("the answer broke off")
    calls = tuple(Called(c.id, c.name, "".join(c.arguments)) for c in gathered.calls if c.name)
    return Reply("".join(gathered.text), calls, "".join(gathered.thoughts), gathered.spent, gathered.finish)


def reply_of_body(pieces: Iterable[bytes], in_time: Callable[[], bool]) -> Reply:
    """The reply of an answer that came whole, read with the same limits. Raises CutOff, TooSlow, JSONDecodeError."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > 4 * MOST_CHARACTERS:
            raise CutOff("the answer did not end")
        if not in_time():
            raise TooSlow("the answer took too long")
    return _reply_of(json.loads(bytes(body), object_hook=lambda pairs: SimpleNamespace(**pairs)))


def _reply_of(completion: Any) -> Reply:
    choice = next(iter(_items(completion, "choices")), None)
    message = getattr(choice, "message", None)
    if message is None:
        raise CutOff("the answer holds no message")
    calls = tuple(
        Called(_text(call, "id"), _text(call.function, "name"), _text(call.function, "arguments"))
        for call in _items(message, "tool_calls")
        if getattr(call, "function", None) is not None
    )
    spent = spent_of(getattr(completion, "usage", None))
    return Reply(_text(message, "content"), calls, _thought(message), spent, _text(choice, "finish_reason") or "stop")


def spent_of(usage: Any) -> Spent:
    """Tokens as the server counts them; 0 where it does not."""
    return Spent(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0


def _take(chunk: Any, gathered: _Gathered) -> None:
    if getattr(chunk, "usage", None) is not None:
        gathered.spent = spent_of(chunk.usage)
    for choice in _items(chunk, "choices")[:1]:
        delta = getattr(choice, "delta", None)
        _add(gathered.text, _text(delta, "content"), gathered)
        _add(gathered.thoughts, _thought(delta), gathered)
        for piece in _items(delta, "tool_calls"):
            _take_call(piece, gathered)
        gathered.finish = _text(choice, "finish_reason") or gathered.finish


def _take_call(piece: Any, gathered: _Gathered) -> None:
    """A piece of a call. Its number says which, but some servers number every call 0: a new id begins a call of its
    own, and a piece without one goes on with the call that its number had last."""
    number, identity = getattr(piece, "index", None), _text(piece, "id")
    number = number if isinstance(number, int) else 0
    call = gathered.open.get(number)
    if call is None or (identity and call.id and identity != call.id):
        call = gathered.open[number] = _Call()
        gathered.calls.append(call)
    call.id = call.id or identity
    function = getattr(piece, "function", None)
    call.name = call.name or _text(function, "name")
    _add(call.arguments, _text(function, "arguments"), gathered)


def _add(parts: list[str], text: str, gathered: _Gathered) -> None:
    if text:
        parts.append(text)
        gathered.characters += len(text)


def _items(thing: Any, name: str) -> list[Any]:
    """A list under that name; the client checks no types, and a server may have sent anything."""
    value = getattr(thing, name, None)
    return value if isinstance(value, list) else []


def _text(thing: Any, name: str) -> str:
    """Text under that name; arguments that came as an object are written as JSON."""
    value = getattr(thing, name, None)
    if isinstance(value, dict | SimpleNamespace):
        return json.dumps(value, default=vars)
    return value if isinstance(value, str) else ""


def _thought(message: Any) -> str:
    return next((thought for name in _THOUGHT_FIELDS if (thought := _text(message, name))), "")
