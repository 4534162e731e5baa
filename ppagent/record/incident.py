"""incident.yaml: what a recording is of, in the user's words and in those of what was found."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ppagent.evidence.masking import mask_value
from ppagent.evidence.quoting import without_controls

_LONGEST_ID = 60
_LONGEST_YAML = 200_000
"""Nobody writes more by hand, and the YAML reader is slow."""
_MOST_BITS = 256


@dataclass(frozen=True)
class Words:
    """What a person says of the incident; empty where nothing was said."""

    question: str = ""
    title: str = ""
    stated: tuple[str, ...] = ()


@dataclass(frozen=True)
class Incident:
    """What goes into incident.yaml. `before` is the incident of a recording that is recorded again: what it says counts
    where nothing newer does, above all where its figures come from."""

    name: str
    words: Words
    stack: Mapping[str, str]
    notes: Sequence[str] = ()
    before: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The YAML text, secrets masked."""
        fields: dict[str, Any] = {
            "schema_version": 1,
            "id": self.before.get("id") or kebab(self.name),
            "title": self.words.title or self.before.get("title") or self._title(),
            "question": self.words.question or self.before.get("question") or "",
            "stated": [*self.before.get("stated", []), *self.words.stated],
            "origin": self.before.get("origin") or {"kind": "measured"},
            "stack": {**self.stack, **self.before.get("stack", {})},
            "tags": self.before.get("tags", []),
        }
        rest = {name: value for name, value in self.before.items() if name not in fields and name != "notes"}
        notes = [*self.before.get("notes", []), *self.notes]
        masked = mask_value("incident", {**fields, **rest, **({"notes": notes} if notes else {})})
        return yaml.safe_dump(_plain(masked), sort_keys=False, allow_unicode=True, width=120)

    def _title(self) -> str:
        told = [self.stack[name] for name in ("model", "gpus") if name in self.stack]
        return " on ".join(told) or f"An SGLang server ({self.name})"


def kebab(name: str) -> str:
    """A name as an id: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_ID].strip("-") or "incident"


def read_incident(text: str) -> dict[str, Any]:
    """The incident of a recording: plain values, lists and tables of them, as the format has them; whatever else stands
    there is left out. Empty where it is no mapping."""
    if len(text) > _LONGEST_YAML:
        return {}
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    told = {_name(key): _shallow(item) for key, item in value.items()} if isinstance(value, dict) else {}
    shapes = {"stated": list, "tags": list, "notes": list, "stack": dict, "origin": dict}
    return {key: item for key, item in told.items() if item is not None and isinstance(item, shapes.get(key, object))}


def name_of(folder: Path) -> str:
    """The name of a recording's folder."""
    return folder.resolve().name


def _name(key: Any) -> str:
    """A field's name as text. Of an integer longer than anybody writes its first digits in hexadecimal, as Python
    writes none of thousands of digits."""
    return hex(key)[:_LONGEST_ID] if isinstance(key, int) and key.bit_length() > _MOST_BITS else str(key)


def _shallow(value: Any) -> Any:
    """The value without anything nested deeper: aliases could make that grow without end."""
    match value:
        case list():
            return [item for item in value if not _endless(item)]
        case dict():
            return {_name(key): item for key, item in value.items() if not _endless(item)}
        case set():
            return None
        case _:
            return None if _endless(value) else value


def _endless(value: Any) -> bool:
    """Whether a value may grow without end, or is a number longer than Python writes."""
    return isinstance(value, list | dict | set) or (isinstance(value, int) and value.bit_length() > _MOST_BITS)


def _plain(value: Any) -> Any:
    """The value as YAML can hold it for any reader: text without control characters and halves of characters."""
    match value:
        case str():
            return without_controls(value.encode("utf-8", errors="replace").decode())
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case _:
            return value
