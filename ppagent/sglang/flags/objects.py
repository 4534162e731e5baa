"""What the source of a tree can name: classes, functions, enum members and scopes, as far as a catalogue needs them."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ppagent.errors import PpagentError
from ppagent.sglang.flags.bindings import Index
from ppagent.sglang.flags.source import Module


class NotStatic(PpagentError):
    """The source does not state this value; it is computed when the server starts."""


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the tree."""

    node: ast.ClassDef
    module: Module

    @property
    def is_enum(self) -> bool:
        return any(ast.unparse(base).endswith(("Enum", "Flag")) for base in self.node.bases)

    @property
    def member_names(self) -> list[str]:
        """Names assigned in the body: the members, where the class is an enum."""
        targets = [s.targets[0] for s in self.node.body if isinstance(s, ast.Assign)]
        return [target.id for target in targets if isinstance(target, ast.Name)]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the tree."""

    node: ast.FunctionDef
    module: Module


@dataclass(frozen=True, eq=False)
class Instance:
    """An object that the source constructs: its class and the arguments."""

    of: Class
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Member:
    """A member of an enum."""

    name: str
    value: Any


@dataclass(frozen=True)
class External:
    """Something outside the tree, by its dotted name."""

    dotted: str


@runtime_checkable
class Attributes(Protocol):
    """Something whose attributes the reader supplies itself."""

    def field(self, name: str) -> Any: ...


@dataclass(frozen=True, eq=False)
class Scope:
    """Where names are looked up: names given, a body of statements, then the parent."""

    module: Module
    index: Index
    parent: "Scope | None" = None
    given: Mapping[str, Any] = field(default_factory=dict)

    def with_name(self, name: str, value: Any) -> "Scope":
        """The same scope in which `name` has `value`."""
        return Scope(self.module, self.index, self.parent, {**self.given, name: value})


def module_scope(module: Module) -> Scope:
    return Scope(module, module.index)


def class_scope(owner: Class) -> Scope:
    return Scope(owner.module, Index(owner.node.body), module_scope(owner.module))
