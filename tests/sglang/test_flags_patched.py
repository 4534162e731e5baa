"""Trees that someone patched: whatever stands there, they are read or refused in words."""

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ppagent.errors import UserError
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.rows import from_row, to_row
from ppagent.sglang.flags.source import SourceTree

FIXTURES = Path(__file__).parent / "fixtures_flags"
ODD = [
    "None",
    "{}",
    "[]",
    "f()",
    "x.y",
    "1",
    "'s'",
    "(1, [2])",
    "lambda: 0",
    "not x",
    "a[0]",
    "{**a}",
    "E.A",
    "A[B, C]",
]


@dataclass(eq=False)
class PatchedTree(SourceTree):
    """A tree some files of which read otherwise."""

    patches: Mapping[str, str] = field(default_factory=dict)

    def read(self, relative: str) -> bytes | None:
        patch = self.patches.get(relative)
        return super().read(relative) if patch is None else patch.encode("utf-8")


def expressions(text: str) -> Iterator[tuple[int, int]]:
    """Where expressions stand in a file: their first and last character."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr) and node.end_lineno and node.end_col_offset:
            yield starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


FILES = [
    (name, path.relative_to(FIXTURES / name / "sglang").as_posix(), path.read_text("utf-8"))
    for name in ("plain", "annotated", "structs")
    for path in sorted((FIXTURES / name / "sglang").rglob("*.py"))
    if path.stem not in ("_version", "version")
]
PLACES = [(place, *span) for place, (_, _, text) in enumerate(FILES) for span in expressions(text)]


def read_patched(place: int, first: int, last: int, odd: str) -> Catalogue | None:
    name, relative, text = FILES[place]
    tree = PatchedTree(FIXTURES / name / "sglang", patches={relative: text[:first] + odd + text[last:]})
    with contextlib.suppress(UserError):
        return read_tree(tree)
    return None


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PLACES), st.sampled_from(ODD))
def test_a_patched_tree_is_read_or_refused_in_words(place: tuple[int, int, int], odd: str) -> None:
    catalogue = read_patched(*place, odd)
    if catalogue is not None:
        assert [from_row(to_row(flag)) for flag in catalogue] == list(catalogue.flags)
        assert all(flag.name.startswith("-") for flag in catalogue)
