"""JSON schemas for the wire: as small as they can be, and strict where a server can enforce them."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from ppagent.brains.llm.model import Function

_NOISE = ("title", "default", "minimum", "maximum", "minItems", "maxItems", "exclusiveMinimum", "exclusiveMaximum")
"""Limits are checked by code when the call comes in; some servers refuse them in a strict schema."""


def function_of(name: str, description: str, arguments: type[BaseModel], without: Collection[str] = ()) -> Function:
    """A function with the fields of `arguments`, less those in `without`."""
    raw = arguments.model_json_schema()
    fields = {key: value for key, value in raw.get("properties", {}).items() if key not in without}
    schema = _small({"type": "object", "properties": fields}, raw.get("$defs", {}))
    return Function(name, " ".join(description.split()), schema, strict=_enforceable(schema))


def _small(node: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema without references, titles, defaults and limits, every property required."""
    if isinstance(node, list):
        return [_small(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _small(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {key: value for key, value in node.items() if key not in _NOISE}
    if kept.get("type") != "object" or "properties" not in kept:
        return {key: _small(value, definitions) for key, value in kept.items()}
    kept.pop("description", None)
    properties = {key: _small(value, definitions) for key, value in kept["properties"].items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _enforceable(node: Any) -> bool:
    """Whether no object in it takes arbitrary names."""
    if isinstance(node, list):
        return all(_enforceable(item) for item in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        return False
    return all(_enforceable(value) for value in node.values())
