from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import SourceHit


@pytest.fixture
def source(tmp_path: Path) -> SourceFiles:
    srt = tmp_path / "source" / "sglang" / "srt"
    srt.mkdir(parents=True)
    (srt / "a.py").write_text("class A:\n    pp_size = 8\n")
    (srt / "b.py").write_text("    pp_size = 4\n")
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (srt / "link.py").symlink_to(tmp_path / "outside.py")
    return SourceFiles(tmp_path / "source")


def test_files_are_listed_by_package_path_and_links_out_are_left_out(source: SourceFiles) -> None:
    assert source.files() == ("sglang/srt/a.py", "sglang/srt/b.py")


def test_hits_name_path_line_and_text(source: SourceFiles) -> None:
    assert source.grep(r"pp_size = (\d)") == (
        SourceHit("sglang/srt/a.py", 2, "pp_size = 8"),
        SourceHit("sglang/srt/b.py", 1, "pp_size = 4"),
    )
    assert source.grep("pp_size", under="sglang/srt/b.py") == (SourceHit("sglang/srt/b.py", 1, "pp_size = 4"),)
    assert len(source.grep("pp_size", limit=1)) == 1


@pytest.mark.parametrize("path", ["../outside.py", "sglang/../../outside.py", "/etc/passwd", "x", "sglang/srt/link.py"])
def test_a_path_outside_the_package_is_refused(source: SourceFiles, path: str) -> None:
    with pytest.raises(ToolError):
        source.read(path)


def test_a_file_that_is_not_there_was_not_recorded(source: SourceFiles) -> None:
    with pytest.raises(NotRecorded):
        source.read("sglang/srt/none.py")
    assert source.read("sglang/srt/b.py") == "    pp_size = 4\n"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("(", "no regular expression"), ("(a+)+b", "repeats a group"), ("a" * 201, "201 characters"),
     (".*.*.*.*x", "4 repeats"), ("(x|y){2,}", "repeats a group"), ("a{99999999999}", "no regular expression")],
)  # fmt: skip
def test_a_pattern_that_is_none_or_could_take_for_ever_is_refused(source: SourceFiles, pattern: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        source.grep(pattern)


def test_a_bracket_that_holds_repeat_signs_repeats_nothing(source: SourceFiles) -> None:
    assert source.grep(r"[*+{}()]") == ()
    assert source.grep(r"(pp)?_size\s*=\s*\d+") != ()
