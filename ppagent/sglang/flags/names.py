"""What a name of the source is bound to, through assignments, later changes, imports and classes."""

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from ppagent.sglang.flags.bindings import Index
from ppagent.sglang.flags.objects import (
    Attributes,
    Class,
    External,
    Function,
    Instance,
    Member,
    NotStatic,
    Scope,
    class_scope,
    module_scope,
)
from ppagent.sglang.flags.operations import BINARY, BUILTINS
from ppagent.sglang.flags.source import Module, SourceTree

SUPPRESSED: Final = "==SUPPRESS=="
_EXTERNAL: dict[str, Any] = {"argparse.SUPPRESS": SUPPRESSED, "sys.maxsize": sys.maxsize, "typing.TYPE_CHECKING": False}
_UNBOUND: Final = object()


class Names:
    """Looks names up in one tree; `evaluate` gives the value of an expression."""

    def __init__(self, tree: SourceTree, evaluate: Callable[[ast.expr, Scope], Any]) -> None:
        self._tree = tree
        self._evaluate = evaluate

    def lookup(self, name: str, scope: Scope | None) -> Any:
        """What `name` is bound to after the whole body of `scope` ran. Raises NotStatic where that cannot be told."""
        while scope is not None:
            if name in scope.given:
                return scope.given[name]
            if scope.index[name]:
                return self._bound(name, scope)
            starred = self._starred(name, scope)
            if starred is not None:
                return self.lookup(name, module_scope(starred))
            scope = scope.parent
        if name in BUILTINS:
            return BUILTINS[name]
        raise NotStatic(f"`{name}` is not defined in the source")

    def attribute(self, base: Any, attr: str) -> Any:
        """`base.attr` for a class, module, enum member or object of the tree."""
        match base:
            case External(dotted):
                return self._imported(dotted, attr)
            case Member():
                return getattr(base, attr)
            case Function(node) | Class(node) if attr == "__doc__":
                return ast.get_docstring(node, clean=False)
            case Class():
                found = self.lookup(attr, class_scope(base))
                return Member(attr, found) if base.is_enum else found
            case Instance(of):
                return self.attribute(of, attr)
            case Attributes():
                return base.field(attr)
        raise NotStatic(f"`.{attr}` is not stated in the source")

    def _bound(self, name: str, scope: Scope) -> Any:
        value = self._fold(name, scope.index[name], _UNBOUND, scope)
        if value is _UNBOUND:
            raise NotStatic(f"`{name}` is declared without a value")
        return value

    def _fold(self, name: str, statements: Sequence[ast.stmt], value: Any, scope: Scope) -> Any:
        """The value of `name` after `statements`, each applied to the value before it."""
        for statement in statements:
            value = self._apply(statement, name, value, scope if value is _UNBOUND else scope.with_name(name, value))
        return value

    def _apply(self, statement: ast.stmt, name: str, value: Any, scope: Scope) -> Any:
        match statement:
            case ast.Assign(value=node) | ast.AnnAssign(value=ast.expr() as node):
                return self._evaluate(node, scope)
            case ast.AnnAssign():
                return value
            case ast.AugAssign(op=op, value=node):
                return BINARY[type(op)](value, self._evaluate(node, scope))
            case ast.FunctionDef():
                return Function(statement, scope.module)
            case ast.ClassDef():
                return Class(statement, scope.module)
            case ast.ImportFrom(names=aliases):
                original = next(alias.name for alias in aliases if (alias.asname or alias.name) == name)
                return self._imported(scope.module.absolute(statement), original)
            case ast.Import(names=aliases):
                return External(next((alias.name for alias in aliases if alias.asname == name), name))
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method), args=arguments)):
                changed = value.copy()
                getattr(changed, method)(*(self._evaluate(argument, scope) for argument in arguments))
                return changed
            case ast.If(test=test, body=body, orelse=orelse):
                return self._fold(name, Index(body if self._evaluate(test, scope) else orelse)[name], value, scope)
            case ast.Try(body=body):
                return self._fold(name, Index(body)[name], value, scope)
        raise NotStatic(f"`{name}` is set in a way that runs code")

    def _imported(self, dotted: str, name: str) -> Any:
        module = self._tree.module(dotted)
        if module is not None and (module.index[name] or self._starred(name, module_scope(module))):
            return self.lookup(name, module_scope(module))
        full = f"{dotted}.{name}"
        if full in _EXTERNAL:
            return _EXTERNAL[full]
        if module is None and dotted.startswith("sglang.") and self._tree.module(full) is None:
            raise NotStatic(f"{dotted.replace('.', '/')}.py is missing or cannot be parsed")
        return External(full)

    def _starred(self, name: str, scope: Scope) -> Module | None:
        """The module from which `from ... import *` brings `name` into `scope`."""
        for statement in scope.index["*"]:
            module = (
                self._tree.module(scope.module.absolute(statement)) if isinstance(statement, ast.ImportFrom) else None
            )
            if module is not None and (module.index[name] or self._starred(name, module_scope(module))):
                return module
        return None
