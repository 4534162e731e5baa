"""An archive is unpacked only where nothing in it can do harm."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.targets import packed
from ppagent.targets.open import open_target
from ppagent.targets.packed import Packed, is_archive
from ppagent.targets.recording import LogFile

LOG = b"[2026-01-01 00:00:00] The server is fired up and ready to roll!\n"


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as out:  # type: ignore[call-overload]
        for member, data in members:
            out.addfile(member, io.BytesIO(data))
    return path


def plain(name: str, data: bytes = LOG) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    return member, data


def special(name: str, change: Callable[[tarfile.TarInfo], None]) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    change(member)
    return member, b""


@pytest.mark.parametrize(
    ("names", "name", "hosts"),
    [
        (["mine/incident.yaml", "mine/hosts/a/server.log"], "mine", ("a",)),
        (["./mine/hosts/a/server.log"], "mine", ("a",)),
        (["incident.yaml", "hosts/a/server.log"], None, ("a",)),
        (["hosts/a/server.log", "hosts/b/server.log"], None, ("a", "b")),
        (["server.log", "launch.txt"], None, None),
    ],
)
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_recording_is_found_in_it(
    names: list[str], name: str | None, hosts: tuple[str, ...] | None, mode: str, tmp_path: Path
) -> None:
    target = open_target(str(archive(tmp_path / "x.tar", *map(plain, names), mode=mode)))
    assert isinstance(target, Packed)
    assert name is None or target.name == name
    assert target.hosts == (hosts or (target.name,))
    assert list(target.log(target.hosts[0])) == [LOG]


def link(member: tarfile.TarInfo) -> None:
    member.type, member.linkname = tarfile.SYMTYPE, "/etc"


def hard_link(member: tarfile.TarInfo) -> None:
    member.type, member.linkname = tarfile.LNKTYPE, "hosts/a/server.log"


def device(member: tarfile.TarInfo) -> None:
    member.type = tarfile.CHRTYPE


def pipe(member: tarfile.TarInfo) -> None:
    member.type = tarfile.FIFOTYPE


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (plain("/tmp/x"), "leads elsewhere"),
        (plain("a/../../x"), "leads elsewhere"),
        (plain("x" * 500), "leads elsewhere"),
        (special("hosts/l", link), "is no plain file"),
        (special("hosts/l", hard_link), "is no plain file"),
        (special("hosts/l", device), "is no plain file"),
        (special("hosts/l", pipe), "is no plain file"),
        (plain("hosts/a/server.log"), "File exists"),
    ],
)
def test_what_could_do_harm_is_refused_whole(bad: tuple[tarfile.TarInfo, bytes], said: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", plain("hosts/a/server.log"), bad)
    with pytest.raises(UserError, match=said):
        open_target(str(path))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "LARGEST_MIB", 1)
    path = archive(tmp_path / "x.tar.gz", plain("hosts/a/server.log", b"\0" * (2 << 20)))
    assert path.stat().st_size < 10_000
    with pytest.raises(UserError, match="more than 1 MiB"):
        open_target(str(path))


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_FILES", 3)
    path = archive(tmp_path / "x.tar.gz", *(plain(f"hosts/a/{n}") for n in range(4)))
    with pytest.raises(UserError, match="more than 3 files"):
        open_target(str(path))


def test_a_header_that_asks_for_much_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_MOST_AT_ONCE_MIB", 1)
    member, data = plain("hosts/a/server.log")
    member.pax_headers = {"comment": "x" * (2 << 20)}
    path = archive(tmp_path / "x.tar.gz", (member, data))
    with pytest.raises(UserError, match="too large"):
        open_target(str(path))


def test_an_archive_that_is_cut_off_is_no_recording(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", plain("hosts/a/server.log", LOG * 5000), mode="w:gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UserError, match="cannot be unpacked"):
        open_target(str(path))


def test_an_archive_of_something_else_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no recording"):
        open_target(str(archive(tmp_path / "x.tar.gz", plain("photo.jpg"))))


def test_a_log_that_is_only_gzipped_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(LOG))
    assert not is_archive(path)
    assert isinstance(open_target(str(path)), LogFile)


def test_its_files_go_with_it(tmp_path: Path) -> None:
    target = Packed(archive(tmp_path / "x.tar.gz", plain("hosts/a/server.log")))
    root = target.root
    assert root.exists()
    del target
    assert not root.exists()
