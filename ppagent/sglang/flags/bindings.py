"""Which statements of a body bind or change a name, in order. Nothing is evaluated here."""

import ast
from collections.abc import Iterator, Sequence

MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "remove", "discard"})


class Index:
    """Statements of one body by the name they bind or change."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._by_name: dict[str, list[ast.stmt]] = {}
        for statement in body:
            for name in dict.fromkeys(bound_names(statement)):
                self._by_name.setdefault(name, []).append(statement)

    def __getitem__(self, name: str) -> Sequence[ast.stmt]:
        return self._by_name.get(name, ())


def bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names that `statement` binds, or whose value it changes in place; blocks are looked into."""
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))) if attr in MUTATORS:
            yield name
        case ast.For(target=ast.Name(id=name)):
            yield name
            yield from (inner for part in inner_statements(statement) for inner in bound_names(part))
        case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
            for inner in inner_statements(statement):
                yield from bound_names(inner)


def inner_statements(block: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a block, every branch of it."""
    for part in ("body", "orelse", "finalbody"):
        yield from getattr(block, part, ())
    for handler in getattr(block, "handlers", ()):
        yield from handler.body
