"""Values of expressions as the source states them, without running it.

Choices and defaults of SGLang's flags are mostly literals, but also sums of lists, members of enums, keys of
registries, lists that are appended to later, and switches whose default stands in the source. What depends on the
machine or on running code raises NotStatic: it is said to be unknown, never guessed.
"""

import ast
from collections.abc import Sequence
from typing import Any

from ppagent.sglang.flags.bindings import Index
from ppagent.sglang.flags.names import Names
from ppagent.sglang.flags.objects import Class, External, Function, Instance, NotStatic, Scope, module_scope
from ppagent.sglang.flags.operations import BINARY, COMPARE, ERRORS, METHODS, brief, is_cheap
from ppagent.sglang.flags.source import SourceTree

_DEEPEST = 60


class Evaluator:
    """Evaluates expressions of one tree; a result is what the source states at load time with no environment set."""

    def __init__(self, tree: SourceTree) -> None:
        self.names = Names(tree, self.value)
        self._depth = 0

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of `node`. Raises NotStatic, with the reason, where it cannot be told from the source."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise NotStatic("it goes round in a circle")
            return self._expression(node, scope)
        except ERRORS as error:
            raise NotStatic(f"`{brief(node)}` does not evaluate ({type(error).__name__})") from error
        finally:
            self._depth -= 1

    def call(self, function: Any, arguments: Sequence[Any]) -> Any:
        """The result of a call that only states a value."""
        match function:
            case Class():
                return Instance(function, tuple(arguments))
            case Function(node, module):
                return self._returned(node, Scope(module, Index(node.body), module_scope(module)), arguments)
            case External(dotted):
                raise NotStatic(f"`{dotted}()` runs code outside the tree")
        if callable(function):
            return function(*(self._iterate(a) if isinstance(a, Class) else a for a in arguments))
        raise NotStatic("it runs code")

    def _returned(self, node: ast.FunctionDef, scope: Scope, arguments: Sequence[Any]) -> Any:
        """What a function without parameters returns in the end; an earlier `return` is for a server that runs."""
        match node.body[-1]:
            case ast.Return(value=ast.expr() as value) if not arguments and not node.args.args:
                return self.value(value, scope)
        raise NotStatic(f"`{node.name}()` runs code")

    def _iterate(self, value: Any) -> list[Any]:
        """`value` as a list; an enum gives its members."""
        if isinstance(value, Class) and value.is_enum:
            return [self.names.attribute(value, name) for name in value.member_names]
        return list(value)

    def _expression(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=elements):
                return self._elements(elements, scope)
            case ast.Tuple(elts=elements):
                return tuple(self._elements(elements, scope))
            case ast.Set(elts=elements):
                return set(self._elements(elements, scope))
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values, scope)
            case ast.Name(id=name):
                return self.names.lookup(name, scope)
            case ast.Attribute(value=base, attr=attr):
                return self.names.attribute(self.value(base, scope), attr)
            case ast.Subscript(value=base, slice=key):
                return self.value(base, scope)[self.value(key, scope)]
            case ast.Call():
                return self._call(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node, scope)
            case ast.JoinedStr(values=values):
                return "".join(str(self.value(v, scope)) for v in values)
            case ast.FormattedValue(value=value):
                return self.value(value, scope)
        return self._operation(node, scope)

    def _operation(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.value(left, scope), self.value(right, scope)
                if not is_cheap(op, a, b):
                    raise NotStatic("it is too large to work out")
                return BINARY[type(op)](a, b)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand, scope)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand, scope)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return COMPARE[type(op)](self.value(left, scope), self.value(right, scope))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(v, scope) for v in values)
            case ast.BoolOp(values=values):
                return any(self.value(v, scope) for v in values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, scope) else orelse, scope)
        raise NotStatic(f"`{brief(node)}` runs code")

    def _elements(self, nodes: Sequence[ast.expr], scope: Scope) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self._iterate(self.value(node.value, scope)))
            else:
                found.append(self.value(node, scope))
        return found

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], scope: Scope) -> dict[Any, Any]:
        """A registry's keys matter; values that are not stated stay expressions."""
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                found.update(self.value(value, scope))
                continue
            stated = self.value(key, scope)
            try:
                found[stated] = self.value(value, scope)
            except NotStatic:
                found[stated] = External(brief(value))
        return found

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        arguments = self._elements(node.args, scope)
        if not isinstance(node.func, ast.Attribute):
            return self.call(self.value(node.func, scope), arguments)
        base, method = self.value(node.func.value, scope), node.func.attr
        if isinstance(base, Instance) and base.of.node.name.startswith("Env") and method == "get":
            return base.arguments[0]
        if method in METHODS and isinstance(base, dict | list | set | str):
            return getattr(base, method)(*arguments)
        return self.call(self.names.attribute(base, method), arguments)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Any:
        generator = node.generators[0]
        if len(node.generators) != 1 or not isinstance(generator.target, ast.Name):
            raise NotStatic(f"`{brief(node)}` runs code")
        found = []
        for item in self._iterate(self.value(generator.iter, scope)):
            inner = scope.with_name(generator.target.id, item)
            if all(self.value(test, inner) for test in generator.ifs):
                found.append(self.value(node.elt, inner))
        return set(found) if isinstance(node, ast.SetComp) else found
