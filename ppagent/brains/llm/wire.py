"""A request in the form of Chat Completions, with no more features than the endpoint has."""

import json
from collections.abc import Sequence
from typing import Any

from ppagent.brains.llm.abilities import Abilities
from ppagent.brains.llm.model import Called, Function, Message
from ppagent.brains.llm.prompts import prompt

MOST_ITEMS = 12
"""Of a list, where a schema is all that guides the model."""


def request_body(
    model: str,
    messages: Sequence[Message],
    functions: Sequence[Function],
    abilities: Abilities,
    max_tokens: int,
) -> dict[str, Any]:
    """Arguments of `chat.completions.create`."""
    body: dict[str, Any] = {"model": model, "stream": abilities.stream}
    body["max_tokens" if abilities.max_tokens else "max_completion_tokens"] = max_tokens
    if abilities.temperature:
        body["temperature"] = 0
    if abilities.stream and abilities.usage:
        body["stream_options"] = {"include_usage": True}
    if abilities.tools:
        body["messages"] = wire_messages(messages if abilities.parallel else one_call_each(messages))
        body["tools"] = [wire_function(function, abilities.strict) for function in functions]
        if not abilities.parallel:
            body["parallel_tool_calls"] = False
        return body
    body["messages"] = text_messages(messages, functions)
    if abilities.json_schema:
        body["response_format"] = next_call_schema(functions)
    return body


def wire_function(function: Function, strict: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": function.name,
        "description": function.description,
        "parameters": dict(function.parameters),
    }
    if strict and function.strict:
        described["strict"] = True
    return {"type": "function", "function": described}


def wire_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [_wire_message(message) for message in messages]


def _wire_message(message: Message) -> dict[str, Any]:
    match message.role:
        case "tool":
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case "assistant" if message.calls:
            return {"role": "assistant", "content": message.text, "tool_calls": [_wire_call(c) for c in message.calls]}
        case _:
            return {"role": message.role, "content": message.text}


def _wire_call(call: Called) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def one_call_each(messages: Sequence[Message]) -> list[Message]:
    """The same conversation as if the model had made its calls one after another: some chat templates know no other."""
    answers = {message.call_id: message for message in messages if message.role == "tool"}
    single: list[Message] = []
    for message in messages:
        if message.role == "tool":
            continue
        if not message.calls:
            single.append(message)
        for call in message.calls:
            single.append(Message("assistant", message.text, (call,)))
            single += [answers[call.id]] if call.id in answers else []
    return single


def text_messages(messages: Sequence[Message], functions: Sequence[Function]) -> list[dict[str, Any]]:
    """The conversation for a server without functions: they are described in words, calls and answers are text."""
    written: list[dict[str, Any]] = []
    for message in messages:
        match message.role:
            case "system":
                described = prompt("in_text", functions="\n".join(_in_words(f) for f in functions))
                written.append({"role": "system", "content": f"{message.text}\n\n{described}"})
            case "assistant":
                calls = "\n".join(_fenced(call) for call in message.calls)
                written.append({"role": "assistant", "content": f"{message.text}\n{calls}".strip() or "(nothing)"})
            case _:
                _append_user(written, message.text)
    return written


def _append_user(written: list[dict[str, Any]], text: str) -> None:
    """Two user messages in a row become one: some chat templates demand that roles alternate."""
    if written and written[-1]["role"] == "user":
        written[-1] = {"role": "user", "content": f"{written[-1]['content']}\n\n{text}"}
    else:
        written.append({"role": "user", "content": text})


def _in_words(function: Function) -> str:
    names = json.dumps(function.parameters.get("properties", {}), separators=(",", ":"))
    return f"- {function.name}: {function.description} Arguments: {names}"


def _fenced(call: Called) -> str:
    return f'```json\n{{"name": "{call.name}", "arguments": {call.arguments}}}\n```'


def next_call_schema(functions: Sequence[Function]) -> dict[str, Any]:
    """The next call as a JSON schema: even a small model then names a function that exists, with its arguments."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": function.name}, "arguments": _short_lists(dict(function.parameters))},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for function in functions
    ]
    return {"type": "json_schema", "json_schema": {"name": "next_call", "schema": {"anyOf": calls}}}


def _short_lists(node: Any) -> Any:
    """The schema with an end to every list: small models do not find one."""
    if isinstance(node, list):
        return [_short_lists(item) for item in node]
    if not isinstance(node, dict):
        return node
    limited = {key: _short_lists(value) for key, value in node.items()}
    return limited | {"maxItems": MOST_ITEMS} if node.get("type") == "array" else limited
