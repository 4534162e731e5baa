"""Type annotations of fields, as far as they decide what a flag takes."""

import ast
from typing import Any

from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.objects import Scope

SCALARS = ("int", "float", "str")
_ANNOTATED = ("A", "Annotated", "typing.Annotated")


def unwrapped(annotation: ast.expr) -> tuple[ast.expr, tuple[ast.expr, ...]]:
    """The type, and what follows it in `A[type, ...]`."""
    match annotation:
        case ast.Subscript(value=wrapper, slice=ast.Tuple(elts=[kind, *metadata])) if (
            ast.unparse(wrapper) in _ANNOTATED
        ):
            return kind, tuple(metadata)
    return annotation, ()


def without_none(kind: ast.expr) -> ast.expr:
    """`X` for Optional[X], Union[X, None] and X | None."""
    match kind:
        case ast.Subscript(value=wrapper, slice=inner) if _last(wrapper) == "Optional":
            return without_none(inner)
        case ast.Subscript(value=wrapper, slice=ast.Tuple(elts=members)) if _last(wrapper) == "Union":
            real = [member for member in members if not _is_none(member)]
            return real[0] if len(real) == 1 else kind
        case ast.BinOp(left=left, op=ast.BitOr(), right=right) if _is_none(right) or _is_none(left):
            return left if _is_none(right) else right
    return kind


def literal_values(kind: ast.expr, evaluator: Evaluator, scope: Scope) -> list[Any] | None:
    """The values of Literal[...]; None for another type. Raises NotStatic where they are not stated."""
    match kind:
        case ast.Subscript(value=wrapper, slice=inner) if _last(wrapper) == "Literal":
            value = evaluator.value(inner, scope)
            return list(value) if isinstance(value, tuple) else [value]
    return None


def list_element(kind: ast.expr) -> str | None:
    """The type of a list's elements, as argparse converts them; None for another type."""
    match kind:
        case ast.Subscript(value=wrapper, slice=inner) if _last(wrapper) in ("List", "list"):
            return inner.id if isinstance(inner, ast.Name) and inner.id in SCALARS else "str"
        case ast.Name(id="list") | ast.Name(id="List"):
            return "str"
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
