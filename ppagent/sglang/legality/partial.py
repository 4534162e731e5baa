"""Evaluates a condition of which only some values are known; it says "unknown" rather than guess."""

import ast
import operator
from collections.abc import Callable
from enum import Enum
from typing import Any


class Truth(Enum):
    """The one value that stands for "cannot be told"."""

    UNKNOWN = "unknown"


UNKNOWN = Truth.UNKNOWN
Lookup = Callable[[str], Any]

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, many: item in many,
    ast.NotIn: lambda item, many: item not in many,
}


def holds(node: ast.expr, holders: frozenset[str], lookup: Lookup) -> bool | Truth:
    """Whether a condition is met, or UNKNOWN. It can be certain where its value is not: `unknown or 1` is met."""
    match node:
        case ast.BoolOp(op=op, values=values):
            met = [holds(value, holders, lookup) for value in values]
            settles = isinstance(op, ast.Or)
            return settles if settles in met else UNKNOWN if UNKNOWN in met else not settles
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            met_inside = holds(operand, holders, lookup)
            return UNKNOWN if isinstance(met_inside, Truth) else not met_inside
    value = evaluate(node, holders, lookup)
    return UNKNOWN if value is UNKNOWN else bool(value)


def evaluate(node: ast.expr, holders: frozenset[str], lookup: Lookup) -> Any:
    """The value of an expression over the fields of an object in one of the names `holders`, or UNKNOWN."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Attribute(value=ast.Name(id=holder), attr=name) if holder in holders:
            return lookup(name)
        case ast.BoolOp(op=op, values=values):
            return _bool(isinstance(op, ast.And), [evaluate(value, holders, lookup) for value in values])
        case ast.UnaryOp(op=ast.Not()):
            return holds(node, holders, lookup)
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(op, evaluate(operand, holders, lookup))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _apply(_ARITHMETIC[type(op)], evaluate(left, holders, lookup), evaluate(right, holders, lookup))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            values = [evaluate(value, holders, lookup) for value in (left, *comparators)]
            pairs = zip(ops, values, values[1:], strict=False)
            compared = [_apply(_COMPARISONS[type(op)], one, other) for op, one, other in pairs]
            return False if False in compared else UNKNOWN if UNKNOWN in compared else compared[-1]
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            found = [evaluate(item, holders, lookup) for item in items]
            return UNKNOWN if UNKNOWN in found else found
    return UNKNOWN


def _bool(conjunction: bool, values: list[Any]) -> Any:
    """The first value that decides, as Python takes it: what stands before an unknown one, nothing after it."""
    for value in values[:-1]:
        if value is UNKNOWN or bool(value) is not conjunction:
            return value
    return values[-1]


def _unary(op: ast.unaryop, value: Any) -> Any:
    return -value if isinstance(op, ast.USub) and isinstance(value, int | float) else UNKNOWN


def _apply(operation: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    try:
        return operation(one, other)
    except (TypeError, ValueError, ZeroDivisionError):
        return UNKNOWN
