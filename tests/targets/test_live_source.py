"""The installed package of a live host: searched with whatever is there, and never left."""

import shutil
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.link import Running
from ppagent.targets.remote.local_link import LocalLink


def test_a_link_that_leads_out_of_the_package_is_not_followed(tmp_path: Path) -> None:
    from ppagent.targets.remote.source_tree import RemoteSource

    package = tmp_path / "sglang"
    package.mkdir()
    (package / "real.py").write_text("x = 1\n")
    (package / "out.py").symlink_to("/etc/hostname")
    tree = RemoteSource(LocalLink(), str(package))
    assert tree.read("sglang/real.py") == "x = 1\n"
    with pytest.raises(ToolError, match="leads out of"):
        tree.read("sglang/out.py")
    with pytest.raises(NotRecorded):
        tree.read("sglang/none.py")
    tree.fetch(["sglang/real.py", "sglang/out.py"])
    assert tree.files() == ("sglang/real.py",)


@pytest.mark.parametrize("available", ["rg", "grep", "python"])
def test_a_search_gives_the_same_with_whatever_is_there(tmp_path: Path, available: str) -> None:
    from ppagent.targets.remote.source_tree import RemoteSource

    if available == "rg" and shutil.which("rg") is None:
        pytest.skip("no ripgrep is installed (package ripgrep)")
    package = tmp_path / "sglang" / "srt"
    package.mkdir(parents=True)
    (package / "a b.py").write_text("one = 1\n\n  two = (one +\n")
    (package / "é.py").write_text("ones\n")
    import sys

    tree = RemoteSource(_Only(available), str(package.parent), python=sys.executable)
    found = [(hit.path, hit.line, hit.text) for hit in tree.grep(r"\bone\b")]
    assert found == [("sglang/srt/a b.py", 1, "one = 1"), ("sglang/srt/a b.py", 3, "two = (one +")]
    assert [hit.path for hit in tree.grep("^on", limit=1)] == ["sglang/srt/a b.py"]


class _Only(LocalLink):
    """A host that has only one of the programs that can search."""

    def __init__(self, available: str) -> None:
        super().__init__()
        self._hidden = [name for name in ("rg", "grep") if name != available]

    def start(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        hide = "".join(f"{name}() {{ return 2; }}; " for name in self._hidden)
        words = [f"command() {{ case $2 in rg) {'false' if 'rg' in self._hidden else 'true'};; esac; }}; {hide}{word}"
                 if "-rnHZPI" in word else word for word in argv]  # fmt: skip
        return super().start(words, timeout_s=timeout_s, stdin=stdin)


# what a look leaves behind
