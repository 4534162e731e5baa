"""The checks of a source tree itself: its assertions over launch arguments, read as far as they can be read.

Only fields that nothing in the tree rewrites on the way are taken as known, so that a check which looks at a resolved
value is left alone. It finds what a newer or patched version refuses and no table knows of.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ppagent.sglang.flags.source import SourceTree
from ppagent.sglang.legality.case import SERVER_ARGS, Case
from ppagent.sglang.legality.partial import UNKNOWN, Truth, holds
from ppagent.sglang.legality.problem import Problem
from ppagent.sglang.scheduler_facts.code import functions

_ARG_GROUPS = "srt/arg_groups"
_ENTRY = "check_server_args"
_HOLDERS = frozenset({"self", "cfg", "view", "server_args"})
_DEEPEST = 3


@dataclass(frozen=True)
class Refusal:
    """A check that fails for certain."""

    file: str
    function: str
    line: int
    message: str
    fields: tuple[str, ...]
    """Fields of its condition that the command sets."""


def failed_asserts(case: Case) -> Iterator[tuple[Refusal, Problem]]:
    """Checks of the tree that this command cannot pass, each as a problem."""
    if case.tree is None:
        return
    files = _files(case.tree)
    known = {function.name: (file, function) for file, function in functions(case.tree, *files)}
    if _ENTRY not in known:
        return
    walker = _Walker(case, known, _rewritten(case.tree, files))
    walker.function(_ENTRY, 0)
    for refusal in walker.found:
        if refusal.fields:
            flag = case.written(refusal.fields[0])
            source = f"{refusal.file}: {refusal.function}, line {refusal.line}"
            yield refusal, Problem("refused", flag, refusal.message or "A check of this tree fails.", "", source)


def _files(tree: SourceTree) -> tuple[str, ...]:
    groups = [name.removeprefix("sglang.").replace(".", "/") + ".py" for name in tree.submodules(_ARG_GROUPS)]
    return (SERVER_ARGS, *groups)


def _rewritten(tree: SourceTree, files: tuple[str, ...]) -> frozenset[str]:
    """Names that some function of the argument code assigns, passes by keyword or puts in a dictionary."""
    found: set[str] = set()
    for _, function in functions(tree, *files):
        for node in ast.walk(function):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    found.add(name)
                case ast.keyword(arg=str(name)):
                    found.add(name)
                case ast.Dict(keys=keys):
                    found |= {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
                case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
                    found.add(name)
    return frozenset(found)


@dataclass(frozen=True)
class _At:
    """Where a walk is: file, function, how deep in calls, and the conditions that hold there."""

    file: str
    function: str
    depth: int
    held: tuple[ast.expr, ...] = ()


@dataclass
class _Walker:
    """Follows what is certain to run."""

    case: Case
    known: dict[str, tuple[str, ast.FunctionDef]]
    rewritten: frozenset[str]
    found: list[Refusal] = field(default_factory=list)

    def function(self, name: str, depth: int) -> None:
        """Walks a function of the tree by name."""
        file, function = self.known[name]
        self._body(function.body, _At(file, name, depth))

    def _body(self, body: list[ast.stmt], at: _At) -> bool:
        """Walks statements that are certain to be reached; False once it is not certain that the next ones are."""
        return all(self._statement(statement, at) for statement in body)

    def _statement(self, statement: ast.stmt, at: _At) -> bool:
        match statement:
            case ast.Assert(test=test, msg=message):
                if self._holds(test) is False:
                    self._note(at, statement.lineno, message, test)
                return True
            case ast.Raise(exc=error):
                self._note(at, statement.lineno, _raised(error))
                return False
            case ast.Return():
                return False
            case ast.If(test=test) if (met := self._holds(test)) is not UNKNOWN:
                held = replace(at, held=(*at.held, test))
                return self._body(statement.body if met else statement.orelse, held)
            case ast.Expr(value=ast.Call() as call) if (name := _called(call)) in self.known and at.depth < _DEEPEST:
                self.function(name, at.depth + 1)
                return True
        return not any(isinstance(node, ast.Return) for node in ast.walk(statement))

    def _holds(self, node: ast.expr) -> bool | Truth:
        return holds(node, _HOLDERS, self._field)

    def _field(self, name: str) -> Any:
        option = self.case.command.option(name)
        unsure = name in self.rewritten or name not in self.case.catalogue.by_dest
        return UNKNOWN if unsure or (option is not None and option.opaque) else self.case.value(name)

    def _note(self, at: _At, line: int, message: ast.expr | None, *tests: ast.expr) -> None:
        named = [node for test in (*at.held, *tests) for node in ast.walk(test) if isinstance(node, ast.Attribute)]
        fields = tuple(dict.fromkeys(node.attr for node in named if self.case.given(node.attr)))
        self.found.append(Refusal(at.file, at.function, line, _text(message), fields))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _raised(error: ast.expr | None) -> ast.expr | None:
    match error:
        case ast.Call(args=[message, *_]):
            return message
    return None


def _text(message: ast.expr | None) -> str:
    """A message as far as it stands in the source; values it would fill in are left as dots."""
    match message:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or "..." for part in parts)
        case ast.BinOp(left=left, right=right):
            return _text(left) + _text(right)
    return ""
