"""What weak servers leave in the text: calls as fenced JSON, and thoughts between tags."""

import json
import re
from collections.abc import Collection, Mapping

from ppagent.brains.llm.model import Called

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_TAG = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_THINK = re.compile(r"<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL)
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
    try:
        value = json.loads(piece.strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
    if name not in known:
        return None
    given: object = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    return Called("text-1", name, given if isinstance(given, str) else json.dumps(_object(given)))


def _object(given: object) -> Mapping[str, object]:
    return given if isinstance(given, dict) else {}
