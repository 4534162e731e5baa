import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.objects import NotStatic, module_scope
from ppagent.sglang.flags.source import Module, SourceTree

literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def value_of(expression: str, before: str = "", tree: Path = Path("nowhere")) -> Any:
    module = Module("sglang.sample", False, before, ast.parse(before).body)
    node = ast.parse(expression, mode="eval").body
    return Evaluator(SourceTree(tree)).value(node, module_scope(module))


@given(literals)
def test_a_literal_is_its_own_value(value: Any) -> None:
    assert value_of(repr(value)) == value


@given(st.lists(st.text()), st.lists(st.text()), st.lists(st.text()))
def test_a_list_holds_what_was_added_to_it_in_order(first: list[str], second: list[str], third: list[str]) -> None:
    before = f"X = {first!r}\nX.extend({second!r})\nX += {third!r}\n"
    assert value_of("X", before) == first + second + third


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("60 * 1024", 61440),
        ("[*(1, 2), 3]", [1, 2, 3]),
        ("sorted({'b', 'a'})", ["a", "b"]),
        ("'A'.lower() if 1 == 1 else 'x'", "a"),
        ("f'{1 + 1} of them'", "2 of them"),
        ("[x for x in ['a', 'b'] if x != 'a']", ["b"]),
        ("'a' in ['a'] and not False", True),
        ("{'a': compute(), **{'b': 1}}.keys()", {"a": 0, "b": 0}.keys()),
    ],
)
def test_what_only_combines_stated_values_is_worked_out(expression: str, expected: object) -> None:
    assert value_of(expression) == expected


def test_names_before_a_later_assignment_mean_the_earlier_value() -> None:
    assert value_of("X", "X = ['a']\nX = X + ['b']\n") == ["a", "b"]


def test_a_guarded_import_means_what_is_tried_first() -> None:
    assert value_of("X", "try:\n    X = 1\nexcept ImportError:\n    X = 2\n") == 1


@pytest.mark.parametrize(
    ("expression", "before", "reason"),
    [
        ("missing", "", "`missing` is not defined"),
        ("X", "from somewhere import X\n", "nothing"),
        ("compute()", "import somewhere\ndef compute():\n    print(1)\n", "runs code"),
        ("compute(1)", "def compute(x):\n    return x\n", "runs code"),
        ("X", "import torch\nX = torch.cuda.is_available()\n", "outside the tree"),
        ("X", "X = Y\nY = X\n", "goes round in a circle"),
        ("X", "X: int\n", "declared without a value"),
        ("X", "for X in [1]:\n    pass\n", "runs code"),
        ("10 ** 10 ** 10", "", "does not evaluate"),
        ("'a' * (1 << 40)", "", "too large"),
        ("1 << 1000000000", "", "too large"),
        ("[] + 1", "", "TypeError"),
        ("lambda: 1", "", "runs code"),
    ],
)
def test_what_runs_code_is_not_guessed(expression: str, before: str, reason: str) -> None:
    if reason == "nothing":
        assert value_of(expression, before).dotted == "somewhere.X"
        return
    with pytest.raises(NotStatic, match=reason):
        value_of(expression, before)


def test_nothing_of_the_tree_is_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    (tmp_path / "trap.py").write_text(f"open({str(marker)!r}, 'w')\nX = [1]\n", "utf-8")
    assert value_of("X", "from sglang.trap import X\n", tmp_path) == [1]
    assert not marker.exists()


def test_a_star_import_is_followed(tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils/__init__.py").write_text("from .common import *\n", "utf-8")
    (tmp_path / "utils/common.py").write_text("X = ['a']\n", "utf-8")
    assert value_of("X + ['b']", "from sglang.utils import X\n", tmp_path) == ["a", "b"]
