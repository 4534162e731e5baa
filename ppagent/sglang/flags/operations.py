"""Operators, builtins and methods that only combine stated values; nothing here can run code of the tree."""

import ast
import operator
from collections.abc import Callable
from typing import Any

BUILTINS: dict[str, Callable[..., Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "sorted": sorted, "dict": dict,
    "str": str, "int": int, "float": float, "bool": bool, "len": len,
}  # fmt: skip
METHODS = frozenset({"keys", "values", "items", "copy", "lower", "upper", "strip", "replace", "join", "union"})
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.BitOr: operator.or_, ast.LShift: operator.lshift,
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
ERRORS = (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, OverflowError)
_LARGEST = 2**40
_LONGEST_SHIFT = 64


def is_cheap(op: ast.operator, left: Any, right: Any) -> bool:
    """Whether an operation stays small: a hostile tree must not make the reader fill the memory."""
    match op:
        case ast.Mult():
            return all(isinstance(x, int | float) and abs(x) < _LARGEST for x in (left, right))
        case ast.LShift():
            return (
                isinstance(left, int)
                and isinstance(right, int)
                and abs(left) < _LARGEST
                and 0 <= right <= _LONGEST_SHIFT
            )
    return True


def brief(node: ast.AST) -> str:
    """The source of `node`, cut to 60 characters."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
