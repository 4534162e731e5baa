"""Answers of a Chat Completions endpoint, as they come over the wire."""

import json
from collections.abc import Sequence
from typing import Any

BASE = "https://models.test/v1"
URL = f"{BASE}/chat/completions"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def usage(prompt: int, completion: int) -> dict[str, Any]:
    told = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": told}


def piece(index: int | None, identity: str | None = None, name: str | None = None, text: str = "") -> dict[str, Any]:
    """A piece of one call."""
    function = {"arguments": text} | ({"name": name} if name else {})
    made: dict[str, Any] = {"type": "function", "function": function}
    if index is not None:
        made["index"] = index
    return made | ({"id": identity} if identity else {})


def sse(chunks: Sequence[dict[str, Any]], done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(one)}\n\n" for one in chunks]
    return "".join([*lines, "data: [DONE]\n\n"] if done else lines).encode()


def said(text: str) -> bytes:
    return sse([chunk({"role": "assistant", "content": text}), chunk({}, "stop"), usage(100, 10)])


def look_in_pieces() -> bytes:
    """Two calls at once, their arguments in pieces that alternate."""
    return sse(
        [
            chunk({"role": "assistant", "content": None, "tool_calls": [piece(0, "a", "look", '{"tools": ["lo')]}),
            chunk({"tool_calls": [piece(1, "b", "read_evidence", '{"id": ')]}),
            chunk({"tool_calls": [piece(0, text='gs.decode"], "why": ""}')]}),
            chunk({"tool_calls": [piece(1, text='"E1"}')]}),
            chunk({}, "tool_calls"),
            usage(1200, 40),
        ]
    )


def whole(content: str | None, calls: Sequence[dict[str, Any]] = (), finish: str = "stop") -> dict[str, Any]:
    """An answer that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    told = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": told}


def call(name: str, arguments: str, identity: str = "a") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def refused(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}
