"""Whether any of many texts stands in a line, found in one pass over it."""

import re
from collections.abc import Callable, Iterable

_Tree = dict[int, "_Tree"]


def any_of(marks: Iterable[bytes]) -> Callable[[bytes], object | None]:
    """A search that is None for a line in which none of `marks` stands. Marks that begin alike share their beginning,
    so that a hundred of them cost a few times what one costs. Raises ValueError where a mark is empty."""
    tree: _Tree = {}
    for mark in sorted(marks, key=len):
        if not mark:
            raise ValueError("an empty mark stands in every line")
        _plant(tree, mark)
    return re.compile(_pattern(tree), re.DOTALL).search


def _plant(tree: _Tree, mark: bytes) -> None:
    """Add a mark, unless a shorter one that it begins with is there and finds it anyway."""
    at = tree
    for byte in mark:
        if byte not in at:
            at[byte] = {}
        elif not at[byte]:
            return
        at = at[byte]


def _pattern(tree: _Tree) -> bytes:
    branches = [re.escape(bytes([byte])) + _pattern(inner) for byte, inner in sorted(tree.items())]
    return branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")" if branches else b""
