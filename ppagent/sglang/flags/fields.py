"""Flags that SGLang derives from annotated fields: `name: A[type, "help"]` or `A[type, Arg(...)]` (0.5.14 and later).

Up to 0.5.19 the fields stand in `ServerArgs` itself (srt/server_args.py), from 0.5.20 in one struct a namespace
(srt/arg_groups/fields/). How a field becomes a flag: srt/arg_groups/arg_utils.py, add_cli_args_from_dataclass.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ppagent.sglang.flags.annotations import SCALARS, list_element, literal_values, unwrapped, without_none
from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.gaps import Gaps
from ppagent.sglang.flags.headings import Headings
from ppagent.sglang.flags.objects import Class, NotStatic, Scope, class_scope
from ppagent.sglang.flags.spec import ABSENT, FlagSpec, checked, type_name


@dataclass(frozen=True)
class Field:
    """One declared field: its type and what stands beside it."""

    name: str
    scope: Scope
    type: ast.expr
    metadata: tuple[ast.expr, ...] = ()
    """What follows the type in `A[...]`; empty for a plain annotation, which makes no flag by itself."""
    default: ast.expr | None = None
    group: str = ""


@dataclass
class Arg:
    """Evaluated metadata of a field."""

    help: str = ""
    given: dict[str, Any] = field(default_factory=dict)


def fields_of(owner: Class, evaluator: Evaluator) -> Iterator[Field]:
    """The declared fields of a class, in order."""
    scope = class_scope(owner)
    group = _namespace(scope, evaluator)
    lines = owner.module.text.splitlines()
    headings = Headings(lines, 4, owner.node.lineno, owner.node.end_lineno or len(lines))
    for statement in owner.node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        kind, metadata = unwrapped(statement.annotation)
        heading = _marked_namespace(metadata) or group or headings.above(statement.lineno)
        yield Field(statement.target.id, scope, kind, metadata, statement.value, heading)


def default_of(declared: Field, evaluator: Evaluator) -> Any:
    """The field's default; ABSENT where it has none. Raises NotStatic where it is worked out on the machine."""
    node = declared.default
    if node is None:
        return ABSENT
    if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("field")):
        return evaluator.value(node, declared.scope)
    for keyword in node.keywords:
        if keyword.arg == "default":
            return evaluator.value(keyword.value, declared.scope)
        if keyword.arg == "default_factory" and isinstance(keyword.value, ast.Lambda):
            return evaluator.value(keyword.value.body, declared.scope)
        if keyword.arg == "default_factory":
            return evaluator.call(evaluator.value(keyword.value, declared.scope), [])
    return ABSENT


def spec_of(declared: Field, evaluator: Evaluator, gaps: Gaps) -> FlagSpec | None:
    """The flag that the field makes, or None for a field that makes none."""
    arg = _arg_of(declared, evaluator, gaps)
    if arg is None or arg.given.get("no_cli"):
        return None
    name = arg.given.get("cli_name") or "--" + declared.name.replace("_", "-")
    aliases = [str(alias) for alias in arg.given.get("aliases") or ()]
    spec = FlagSpec([name, *aliases], dest=declared.name, help=arg.help, group=declared.group)
    try:
        spec.default = default_of(declared, evaluator)
    except NotStatic as reason:
        gaps.of_flag(name, f"The default of {name} cannot be told: {reason}.")
    spec.required = bool(arg.given.get("required", spec.default is ABSENT))
    if arg.given.get("action") is not None:
        spec.action = arg.given["action"]
        extra = dict(arg.given.get("action_kwargs") or {})
        spec.nargs, spec.const = extra.get("nargs", ABSENT), extra.get("const")
        spec.type = type_name(extra["type"]) if "type" in extra else "str"
        spec.required = False
        return spec
    try:
        _shape(spec, arg, declared, evaluator)
    except NotStatic as reason:
        gaps.of_flag(name, f"The values that {name} takes cannot be told: {reason}.")
    return spec


def _shape(spec: FlagSpec, arg: Arg, declared: Field, evaluator: Evaluator) -> None:
    """Type, choices and number of values, from the annotation and its metadata."""
    parser, choices = arg.given.get("type_parser"), arg.given.get("choices")
    inner = without_none(declared.type)
    literal = literal_values(inner, evaluator, declared.scope)
    spec.const, spec.choices = arg.given.get("const"), choices
    if literal is not None:
        kind = type(literal[0]).__name__ if literal else "str"
        spec.type = type_name(parser) if parser else kind if kind in SCALARS else "str"
        spec.choices, spec.required = choices or literal, False
    elif (element := list_element(inner)) is not None and parser is None:
        spec.type, spec.nargs, spec.required = element, arg.given.get("nargs") or "+", False
    elif isinstance(inner, ast.Name) and inner.id == "bool":
        spec.action, spec.choices, spec.const, spec.required = "store_true", None, None, False
    else:
        scalar = inner.id if isinstance(inner, ast.Name) and inner.id in SCALARS else "str"
        spec.type, spec.nargs = type_name(parser) if parser else scalar, arg.given.get("nargs", ABSENT)


def _arg_of(declared: Field, evaluator: Evaluator, gaps: Gaps) -> Arg | None:
    for node in declared.metadata:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Arg"):
            return _read_arg(node, declared, evaluator, gaps)
        if isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr):
            return Arg(help=_text(node, evaluator, declared.scope))
    return None


def _read_arg(call: ast.Call, declared: Field, evaluator: Evaluator, gaps: Gaps) -> Arg:
    arg = Arg()
    for keyword in call.keywords:
        if keyword.arg == "help":
            arg.help = _text(keyword.value, evaluator, declared.scope)
            continue
        try:
            arg.given[keyword.arg or ""] = checked(keyword.arg or "", evaluator.value(keyword.value, declared.scope))
        except NotStatic as reason:
            name = "--" + declared.name.replace("_", "-")
            gaps.of_flag(name, f"`{keyword.arg}` of {name} cannot be told: {reason}.")
    return arg


def _text(node: ast.expr, evaluator: Evaluator, scope: Scope) -> str:
    try:
        value = evaluator.value(node, scope)
    except NotStatic:
        return ast.unparse(node).strip("f'\"")
    return value if isinstance(value, str) else ""


def _namespace(scope: Scope, evaluator: Evaluator) -> str:
    try:
        return str(evaluator.names.lookup("_NS_PATH", scope)) if scope.index["_NS_PATH"] else ""
    except NotStatic:  # a flag without a group is still that flag
        return ""


def _marked_namespace(metadata: tuple[ast.expr, ...]) -> str:
    for node in metadata:
        match node:
            case ast.Call(func=ast.Name(id="NS"), args=[ast.Constant(value=str(path))]):
                return path
    return ""
