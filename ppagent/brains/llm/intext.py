"""What weak servers leave in the text: calls as fenced JSON, and thoughts between tags."""

import json
import re
from collections.abc import Collection, Mapping

from ppagent.brains.llm.model import Called

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_THINK = re.compile(r"<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL)
_TRIED = 8
"""Places at which cut-off JSON is closed on trial, the last first."""
_NAME_KEYS = ("name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")


def split_thoughts(text: str) -> tuple[str, str]:
    """(what was said, what was thought): the content of `<think>` tags is thought. A closing tag alone ends a thought
    whose opening tag was in the prompt."""
    thoughts = [match[1].strip() for match in _THINK.finditer(text)]
    said = _THINK.sub("", text)
    head, closed, tail = said.partition("</think>")
    if closed:
        thoughts.insert(0, head.strip())
        said = tail
    return said.strip(), "\n".join(thought for thought in thoughts if thought)


def call_in_text(text: str, known: Collection[str]) -> Called | None:
    """The one call that stands in `text` as a JSON object: fenced, in a `<tool_call>` tag, or the whole text.

    Only with the name of a known function, and only where there is exactly one: of two, nobody knows which was meant.
    """
    found = [call for piece in _pieces(text) if (call := _as_call(piece, known)) is not None]
    distinct = {(call.name, call.arguments): call for call in found}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _pieces(text: str) -> list[str]:
    fenced = [match[1] for pattern in (_FENCE, _TAG) for match in pattern.finditer(text)]
    return fenced or [text]


def _as_call(piece: str, known: Collection[str]) -> Called | None:
    value = _loaded(piece.strip())
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
    if name not in known:
        return None
    given: object = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    return Called("text-1", name, given if isinstance(given, str) else json.dumps(_object(given)))


def _loaded(piece: str) -> object:
    """The JSON value of a piece; of one that was cut off, what was whole by then."""
    try:
        return json.loads(piece)
    except (ValueError, RecursionError):
        return whole_part(piece)


def whole_part(piece: str) -> object:
    """The beginning of cut-off JSON up to its last whole item, closed; None where there is none.

    Small models run on in a list until their answer is cut off.
    """
    ends: list[tuple[int, str]] = []
    closers: list[str] = []
    inside_text = escaped = False
    for at, character in enumerate(piece):
        if inside_text:
            inside_text, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            inside_text = True
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
        elif character in "}]":
            if not closers or closers.pop() != character:
                return None
            ends.append((at + 1, "".join(reversed(closers))))
        elif character == ",":
            ends.append((at, "".join(reversed(closers))))
    for end, closing in reversed(ends[-_TRIED:]):
        try:
            return json.loads(piece[:end] + closing)
        except (ValueError, RecursionError):
            continue
    return None


def _object(given: object) -> Mapping[str, object]:
    return given if isinstance(given, dict) else {}
