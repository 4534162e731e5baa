import shutil
from pathlib import Path

import pytest

from ppagent.sglang.flags import cache, catalogue
from ppagent.sglang.flags.catalogue import read_catalogue

FIXTURES = Path(__file__).parent / "fixtures_flags"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return shutil.copytree(FIXTURES / "structs", tmp_path / "tree")


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on a tree that must be parsed fails the test."""

    def fail(source: object) -> None:
        raise AssertionError("the tree was parsed again")

    monkeypatch.setattr(catalogue, "read_tree", fail)


def entries(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache/ppagent/flags").iterdir())


def test_a_tree_is_parsed_once(tree: Path, request: pytest.FixtureRequest) -> None:
    first = read_catalogue(tree)
    request.getfixturevalue("unreadable")
    assert read_catalogue(tree) == first


def test_a_copy_elsewhere_is_answered_from_the_same_entry(
    tree: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    read_catalogue(tree)
    moved = shutil.copytree(tree, tmp_path / "moved")
    request.getfixturevalue("unreadable")
    assert read_catalogue(moved).origin == str(moved / "sglang")


@pytest.mark.parametrize(
    ("file", "text"),
    [("srt/arg_groups/choices.py", 'FORMATS = ["new"]\n'), ("srt/parser/names.py", 'NAMES = ("new",)\n')],
)
def test_a_change_in_any_file_that_was_read_is_seen(tree: Path, file: str, text: str) -> None:
    before = read_catalogue(tree)
    (tree / "sglang" / file).write_text(text, "utf-8")
    after = read_catalogue(tree)
    assert before.flags != after.flags
    assert any(flag.choices and "new" in flag.choices for flag in after)


def test_a_file_that_appears_is_seen(tree: Path) -> None:
    choices = tree / "sglang/srt/arg_groups/choices.py"
    text = choices.read_text("utf-8")
    choices.unlink()
    assert read_catalogue(tree).unread
    choices.write_text(text, "utf-8")
    assert not [s for s in read_catalogue(tree).unread if "missing" in s]


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"files": {}}', '{"files": {}, "version": "1", "unread": [], "flags": [{"odd": 1}]}', "\x00"],
)
def test_a_damaged_entry_is_read_again_and_mended(tree: Path, tmp_path: Path, damage: str) -> None:
    whole = read_catalogue(tree)
    (entry,) = entries(tmp_path)
    kept = entry.read_text("utf-8")
    entry.write_text(damage, "utf-8")
    assert read_catalogue(tree) == whole
    assert entry.read_text("utf-8") == kept


def test_nothing_but_the_entry_is_left_behind(tree: Path, tmp_path: Path) -> None:
    read_catalogue(tree)
    assert [path.suffix for path in entries(tmp_path)] == [".json"]


def test_a_cache_that_cannot_be_written_costs_no_answer(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be", "utf-8")
    assert len(read_catalogue(tree).flags) == 6


def test_a_relative_cache_home_is_ignored_as_its_standard_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache.cache_folder() == Path("/home/someone/.cache/ppagent/flags")


def test_what_departs_from_the_published_version_is_said_and_kept(tree: Path, request: pytest.FixtureRequest) -> None:
    first = read_catalogue(tree)
    assert any("is not the published 0.5.22" in sentence for sentence in first.unread)
    request.getfixturevalue("unreadable")
    assert read_catalogue(tree).unread == first.unread
