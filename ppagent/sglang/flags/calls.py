"""Flags that `ServerArgs.add_cli_args` registers by hand: all of them up to 0.5.13, a few later."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ppagent.sglang.flags.bindings import Index, bound_names
from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.gaps import Gaps
from ppagent.sglang.flags.headings import Headings
from ppagent.sglang.flags.objects import NotStatic, Scope
from ppagent.sglang.flags.source import Module
from ppagent.sglang.flags.spec import FlagSpec, checked, type_name

FROM_FIELDS = "add_cli_args_from_dataclass"
_PLAIN_KEYWORDS = ("default", "choices", "nargs", "const", "action", "required", "new_flag", "error_message", "dest")


class Registrations:
    """The statements of one `add_cli_args`, read in order."""

    def __init__(
        self, function: ast.FunctionDef, scope: Scope, evaluator: Evaluator, given: Mapping[str, Any], gaps: Gaps
    ) -> None:
        self._function = function
        self._evaluator = evaluator
        self._scope = Scope(scope.module, Index(function.body), scope, given)
        self._headings = _headings(function, scope.module)
        self._groups: dict[str, str] = {}
        self._gaps = gaps

    def read(self) -> Iterator[FlagSpec | None]:
        """Each flag in the order of registration; None stands for "the fields' own flags come here"."""
        yield from self._statements(self._function.body)

    def _statements(self, body: list[ast.stmt]) -> Iterator[FlagSpec | None]:
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="add_argument")) as call):
                    yield from self._spec(call, statement)
                case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name == FROM_FIELDS:
                    yield None
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=attr)) as call) if (
                    attr in ("add_argument_group", "add_mutually_exclusive_group")
                ):
                    self._groups[name] = _title(call)
                case ast.If(test=test, body=then, orelse=orelse):
                    yield from self._statements(self._branch(test, then, orelse))
                case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Return():
                    continue
                case _ if registrations_in(statement) or not any(bound_names(statement)):
                    self._not_understood(statement)

    def _branch(self, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        try:
            return then if self._evaluator.value(test, self._scope) else orelse
        except NotStatic as reason:
            if any(registrations_in(statement) for statement in then):
                self._gaps.of_some(f"Some flags are registered only if `{ast.unparse(test)}`, and {reason}.")
            return then

    def _not_understood(self, statement: ast.stmt) -> None:
        nested = registrations_in(statement)
        what = f"{nested} registrations inside it" if nested else "what it registers"
        line = ast.unparse(statement).splitlines()[0]
        self._gaps.of_some(
            f"Line {statement.lineno} of add_cli_args, `{line[:60]}`, is not understood; {what} may be missing here."
        )

    def _spec(self, call: ast.Call, statement: ast.stmt) -> Iterator[FlagSpec]:
        try:
            spellings = [str(self._evaluator.value(argument, self._scope)) for argument in call.args]
        except NotStatic:
            self._not_understood(statement)
            return
        spec = FlagSpec(spellings, group=self._group(call))
        for keyword in call.keywords:
            self._keyword(spec, keyword)
        yield spec

    def _keyword(self, spec: FlagSpec, keyword: ast.keyword) -> None:
        if keyword.arg == "help":
            spec.help = self._text(keyword.value)
            return
        try:
            value = checked(keyword.arg or "", self._evaluator.value(keyword.value, self._scope))
        except NotStatic as reason:
            first = spec.spellings[0]
            self._gaps.of_flag(first, f"The {keyword.arg or 'keywords'} of {first} cannot be told: {reason}.")
            return
        if keyword.arg == "type":
            spec.type = type_name(value)
        elif keyword.arg == "const_value":
            spec.const = value
        elif keyword.arg in _PLAIN_KEYWORDS:
            setattr(spec, keyword.arg, value)

    def _text(self, node: ast.expr) -> str:
        try:
            return str(self._evaluator.value(node, self._scope))
        except NotStatic:
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in parts)

    def _group(self, call: ast.Call) -> str:
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        named = self._groups.get(receiver.id, "") if isinstance(receiver, ast.Name) else ""
        return named or self._headings.above(call.lineno)


def registrations_in(statement: ast.stmt) -> int:
    """How many `add_argument` calls are written somewhere in a statement."""
    return sum(isinstance(node, ast.Attribute) and node.attr == "add_argument" for node in ast.walk(statement))


def _headings(function: ast.FunctionDef, module: Module) -> Headings:
    lines = module.text.splitlines()
    return Headings(lines, function.body[0].col_offset, function.lineno, function.end_lineno or len(lines))


def _title(call: ast.Call) -> str:
    return (
        call.args[0].value
        if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
        else ""
    )


def moved_fields(function: ast.FunctionDef | None) -> dict[str, str]:
    """Parsed name -> field, from `args.tp_size = args.tensor_parallel_size` lines of `from_cli_args` (up to 0.5.13)."""
    moved: dict[str, str] = {}
    for statement in function.body if function else ():
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=left), attr=to)],
                value=ast.Attribute(value=ast.Name(id=right), attr=source),
            ) if left == right:
                moved[source] = to
    return moved
