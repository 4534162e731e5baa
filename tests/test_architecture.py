"""Imports point the way that docs/architecture.md says: rooms in the order of its table, and no room left out of it."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"


@lru_cache
def rooms() -> tuple[str, ...]:
    """Folders and modules of `ppagent`, bottom floor first, as the table names them."""
    named: list[str] = []
    for row in re.findall(r"^\| (`ppagent/.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        paths = re.findall(r"`([^`]+)`", row)
        named += [Path(path).stem if path.endswith(".py") else Path(path).name for path in paths]
    return tuple(named)


def room_of(module: str) -> str:
    """The room of `ppagent.evidence.ledger`: `evidence`. The package itself, which holds its version, is none."""
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, wherever in it, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0) if module in ("ppagent", "ppagent_tools"):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module


def sources(folder: str) -> list[Path]:
    """The Python files below `folder`."""
    return sorted((ROOT / folder).rglob("*.py"))


def test_every_room_stands_in_the_table_once() -> None:
    inside = [path for path in (ROOT / "ppagent").iterdir() if path.suffix in ("", ".py")]
    assert sorted(rooms()) == sorted(path.stem for path in inside if path.name[0] not in "._")


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_from_those_above_it_in_the_table_only(room: str) -> None:
    folder = ROOT / "ppagent" / room
    allowed = {*rooms()[: rooms().index(room) + 1], "__version__", ""}
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in (sources(f"ppagent/{room}") if folder.is_dir() else [folder.with_suffix(".py")])
        for line, module in imports(path)
        if module.partition(".")[0] == "ppagent" and room_of(module) not in allowed
    ]
    assert not upward


@pytest.mark.parametrize(
    ("folder", "never"),
    [
        ("ppagent", {"ppagent_tools", "ppagent_evals", "ppagent_lab", "ppagent_prompts"}),
        ("tools/ppagent_tools", {"ppagent_evals", "ppagent_lab"}),
        ("prompts/ppagent_prompts", {"ppagent", "ppagent_tools", "ppagent_evals", "ppagent_lab"}),
        ("evals/ppagent_evals", {"ppagent_lab"}),
    ],
)
def test_what_is_found_by_name_is_never_imported(folder: str, never: set[str]) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in sources(folder)
        for line, module in imports(path)
        if module.partition(".")[0] in never
    ]
    assert not found
