"""Looking things up in the source of an installed SGLang without importing it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ppagent.sglang.flags.source import SourceTree


@dataclass(frozen=True)
class Place:
    """Where something stands: file relative to the package, function, line."""

    file: str
    function: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}: {self.function}, line {self.line}"


def open_tree(tree: Path | SourceTree | None) -> SourceTree | None:
    """The `sglang` package in `tree`, also where only parts of it are there; None without one."""
    if tree is None or isinstance(tree, SourceTree):
        return tree
    for candidate in (tree, tree / "sglang", tree / "python" / "sglang"):
        if (candidate / "srt").is_dir():
            return SourceTree(candidate)
    return None


def dotted(file: str) -> str:
    """The module name of a file of the package: srt/managers/scheduler.py -> sglang.srt.managers.scheduler."""
    return ".".join(("sglang", *Path(file).with_suffix("").parts))


def functions(tree: SourceTree, *files: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function and method of the files, with its file; a file that is not there or does not parse has none."""
    for file in files:
        module = tree.module(dotted(file))
        for statement in module.body if module else ():
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef):
                    yield file, node


def has(tree: SourceTree, file: str) -> bool:
    """Whether the file is there and can be parsed."""
    return tree.module(dotted(file)) is not None


def names_in(node: ast.AST) -> set[str]:
    """Names and attributes mentioned in a piece of code."""
    found = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return found | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
