"""Environment variables that a launch text sets: in front of a command, exported by a script, handed to a container."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ppagent.sglang.launch.shell import Value, assignment_name
from ppagent.sglang.launch.words import Word, Writer

Kind = Literal["prefix", "export", "docker", "systemd", "yaml-map", "yaml-item", "yaml-pair"]


@dataclass(frozen=True)
class Assignment:
    """An environment variable the server starts with. `start:end` is what to rewrite to change its value."""

    name: str
    value: str
    start: int
    end: int
    kind: Kind
    writer: Writer
    opaque: bool = False
    after: int = -1
    """Where the next one may be written, in YAML."""


def prefix_assignments(prefix: Sequence[Word]) -> tuple[Assignment, ...]:
    """Assignments among the words in front of a program: leading ones, those of `env`, and a container's `-e`."""
    found: list[Assignment] = []
    open_for_assignments = True
    for at, word in enumerate(prefix):
        before = prefix[at - 1].value if at else ""
        if before in ("-e", "--env"):
            found.append(_assignment(word, word.value, "docker"))
        elif word.value.startswith("--env="):
            found.append(_assignment(word, word.value.removeprefix("--env="), "docker"))
        elif open_for_assignments and assignment_name(word.value):
            found.append(_assignment(word, word.value, "prefix"))
        elif not word.value.startswith("-"):
            open_for_assignments = word.value.rpartition("/")[2] in ("env", "sudo", "then", "do")
    return tuple(found)


def _assignment(word: Word, text: str, kind: Kind) -> Assignment:
    name, equals, value = text.partition("=")
    opaque = word.opaque or not equals
    shown = value if equals else f"${name}"
    return Assignment(name.removesuffix("+"), shown, word.start, word.end, kind, word.writer, opaque)


def note_assignments(words: tuple[Word, ...], variables: dict[str, Value], exported: dict[str, Assignment]) -> None:
    """Remembers what one command of a script assigns, and what of it the server inherits."""
    if words[0].value == "unset":
        for word in words[1:]:
            exported.pop(word.value, None)
            variables.pop(word.value, None)
    exports = words[0].value in ("export", "declare", "typeset")
    if not exports and any(assignment_name(word.value) is None for word in words):
        return
    for word in words[1:] if exports else words:
        name = assignment_name(word.value)
        if name is not None:
            _assign(name, word, variables)
        if exports and name is None and isinstance(variables.get(word.value), str):
            name = word.value
            exported[name] = Assignment(name, str(variables[name]), word.start, word.end, "export", word.writer)
        elif name is not None and (exports or name in exported) and not word.items:
            exported[name] = _assignment(word, word.value, "export")


def _assign(name: str, word: Word, variables: dict[str, Value]) -> None:
    value = word.value.partition("=")[2]
    adds = word.value.startswith(f"{name}+=")
    old = variables.get(name)
    if word.items:
        variables[name] = (*old, *word.items) if adds and isinstance(old, tuple) else word.items
    elif not word.opaque:
        variables[name] = f"{old}{value}" if adds and isinstance(old, str) else value
