"""A source tree has the last word: what it states holds, what it does not state does not."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from legality_samples import problems, refused, write_tree

from ppagent.sglang.legality.partial import UNKNOWN, evaluate, holds

PATCHED = """
class ServerArgs:
    def check_server_args(self):
        {check}
"""


def checking(root: Path, check: str) -> Path:
    body = check.replace("\n", "\n        ")
    return write_tree(root, srt__server_args=PATCHED.format(check=body))


def test_a_rule_that_the_tree_states_is_cited_by_line(tmp_path: Path) -> None:
    tree = checking(tmp_path, 'assert self.tp_size % self.nnodes == 0, "divisible by number of nodes"')
    found = problems("--tp-size 3 --nnodes 2", "0.5.10", tree=tree)
    assert [problem.source for problem in found] == ["srt/server_args.py: check_server_args, line 4"]


def test_a_rule_that_a_patched_tree_dropped_does_not_hold(tmp_path: Path) -> None:
    assert refused("--pp-size 2 --enable-mixed-chunk", "0.5.10", tree=checking(tmp_path, "pass")) == []
    assert refused("--pp-size 2 --enable-mixed-chunk", "0.5.10") == ["--enable-mixed-chunk"]


def test_where_the_file_is_not_in_the_tree_the_table_answers(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, srt__managers__scheduler="pass\n")
    found = problems("--tp-size 3 --nnodes 2", "0.5.10", tree=tree)
    assert found[0].source == "srt/server_args.py: check_server_args (table by version)"


@pytest.mark.parametrize(
    ("check", "arguments", "flags"),
    [
        ("assert self.stream_interval < 5, 'too slow'", "--stream-interval 8", ["--stream-interval"]),
        ("assert self.stream_interval < 5, 'too slow'", "--stream-interval 4", []),
        ("assert self.stream_interval < 5, 'too slow'", "--stream-interval $N", []),
        (
            "if self.enable_metrics and self.stream_interval > 1:\n    raise ValueError('no')",
            "--enable-metrics --stream-interval 2",
            ["--enable-metrics"],
        ),
        ("if self.enable_metrics:\n    raise ValueError('no')", "--stream-interval 2", []),
        ("if probe():\n    return\nassert self.stream_interval < 5", "--stream-interval 8", []),
        ("if probe():\n    log()\nassert self.stream_interval < 5", "--stream-interval 8", ["--stream-interval"]),
        ("if probe():\n    raise ValueError\nassert self.stream_interval < 5", "--stream-interval 4", []),
        ("self.stream_interval = 1\nassert self.stream_interval < 5", "--stream-interval 8", []),
        ("declare(stream_interval=1)\nassert self.stream_interval < 5", "--stream-interval 8", []),
        (
            "assert self.stream_interval in (1, 2), f'not {self.stream_interval}'",
            "--stream-interval 3",
            ["--stream-interval"],
        ),
        ("self.more()", "--stream-interval 3", []),
        ("assert self.stream_interval > 1, 'default fails'", "", []),
    ],
)
def test_assertions_of_a_tree_are_read_as_far_as_they_are_certain(
    tmp_path: Path, check: str, arguments: str, flags: list[str]
) -> None:
    assert refused(arguments, "0.5.10", tree=checking(tmp_path, check)) == flags


def test_the_check_is_followed_into_the_function_it_calls(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path,
        srt__server_args="class ServerArgs:\n    pass\n",
        srt__arg_groups__validation_hook=(
            "def check_server_args(server_args):\n"
            "    cfg = view_of(server_args)\n"
            "    check_more(cfg)\n\n\n"
            "def check_more(cfg):\n"
            '    assert cfg.stream_interval < 5, "stream_interval is too large"\n'
        ),
    )
    found = problems("--stream-interval 8", "0.5.23", tree=tree)
    assert [(p.flag, p.says, p.source) for p in found] == [
        (
            "--stream-interval",
            "stream_interval is too large",
            "srt/arg_groups/validation_hook.py: check_more, line 7",
        )
    ]


def value_of(condition: str, **fields: object) -> object:
    node = ast.parse(condition, mode="eval").body
    return evaluate(node, frozenset({"self"}), lambda name: fields.get(name, UNKNOWN))


def truth_of(condition: str, **fields: object) -> object:
    node = ast.parse(condition, mode="eval").body
    return holds(node, frozenset({"self"}), lambda name: fields.get(name, UNKNOWN))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.a > 1 and self.unknown", UNKNOWN),
        ("self.a > 5 and self.unknown", False),
        ("self.a or self.unknown", 2),
        ("self.unknown or self.zero", UNKNOWN),
        ("not self.zero", True),
        ("1 <= self.a <= 3", True),
        ("self.a % self.zero == 0", UNKNOWN),
        ("self.a in (None, 1, self.unknown)", UNKNOWN),
        ("-self.a", -2),
        ("len(self.a)", UNKNOWN),
        ("other.a", UNKNOWN),
        ("self.a < self.text", UNKNOWN),
    ],
)
def test_a_condition_with_gaps_is_decided_only_where_the_gaps_do_not_matter(text: str, value: object) -> None:
    assert value_of(text, a=2, zero=0, text="x") == value


ATOMS = st.sampled_from(["self.a", "self.b", "self.c", "1", "0"])
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.builds(
        lambda one, op, other: f"({one} {op} {other})",
        inner,
        st.sampled_from(["and", "or", "<", "==", "+", "*", "%"]),
        inner,
    ),
    max_leaves=8,
)


@given(CONDITIONS, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_what_is_decided_with_a_gap_stays_decided_when_the_gap_is_filled(text: str, a: int, b: int, c: int) -> None:
    with_gap = value_of(text, a=a, b=b)
    if with_gap is not UNKNOWN:
        assert value_of(text, a=a, b=b, c=c) == with_gap


@given(CONDITIONS, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_what_holds_with_a_gap_holds_whatever_fills_it(text: str, a: int, b: int, c: int) -> None:
    with_gap = truth_of(text, a=a, b=b)
    if with_gap is not UNKNOWN:
        assert truth_of(text, a=a, b=b, c=c) == with_gap
        value = value_of(text, a=a, b=b, c=c)  # UNKNOWN only where evaluating it raises, as a division by zero does
        assert value is UNKNOWN or bool(value) == with_gap


def test_a_condition_can_be_certain_where_its_value_is_not() -> None:
    assert truth_of("self.unknown or 1") is True and value_of("self.unknown or 1") is UNKNOWN
    assert truth_of("not (self.unknown and 0)") is True and value_of("(self.unknown or 8) % 4 == 0") is UNKNOWN
