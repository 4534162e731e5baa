"""The installed package of a live host: searched with whatever is there, and never left."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.link import Link, Running, Stream
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


def test_many_files_come_in_one_command(tmp_path: Path, link: Link) -> None:
    from ppagent.targets.remote.source_tree import RemoteSource

    package = tmp_path / "sglang"
    package.mkdir()
    names = [*(f"part{number}.py" for number in range(40)), "a b.py", "é.py", "-n.py"]
    for name in names:
        (package / name).write_text(f"# {name}\n")
    counted = _Counted(link)
    tree = RemoteSource(counted, str(package))
    paths = [f"sglang/{name}" for name in names]
    tree.fetch(paths)
    assert [tree.read(path) for path in paths] == [f"# {name}\n" for name in names]
    assert counted.commands == ["find", "tar"]


class _Counted:
    """A link that notes the programs it runs."""

    def __init__(self, link: Link) -> None:
        self.kind, self.name, self.names = link.kind, link.name, link.names
        self.commands: list[str] = []
        self._link = link

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        self.commands.append(argv[0])
        return self._link.start(argv, timeout_s=timeout_s, stdin=stdin)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Stream:
        return self._link.open_tcp(address, port, timeout_s=timeout_s)

    def close(self) -> None:
        self._link.close()


def test_a_list_that_came_only_in_part_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ppagent.targets.remote import source_tree

    program = tmp_path / "bin" / "find"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nprintf '%s/sglang/a.py\\0' {tmp_path}; sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(source_tree, "_LIST_S", 0.5)
    with pytest.raises(ToolError, match="was not listed: its time was up"):
        source_tree.RemoteSource(LocalLink(), str(tmp_path / "sglang")).files()


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
