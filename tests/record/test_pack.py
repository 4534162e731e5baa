"""One file holds the recording and nobody's name."""

import errno
import tarfile
from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.record.folder import CannotWrite
from ppagent.record.pack import pack, packed_name, refuse_taken
from ppagent.targets.open import open_target
from ppagent.targets.packed import Packed
from ppagent.targets.recording import Recording
from tests.record.record_fakes import INCIDENTS, diagnosed, told

KIMI = INCIDENTS / "kimi-k26-pp8"


def test_a_packed_recording_is_diagnosed_as_its_folder_is(tmp_path: Path) -> None:
    size = pack(KIMI, tmp_path / "k.tar.gz")
    target = open_target(str(tmp_path / "k.tar.gz"))
    assert size == (tmp_path / "k.tar.gz").stat().st_size
    assert isinstance(target, Packed)
    assert (target.kind, target.name, target.hosts) == ("recording", "kimi-k26-pp8", ("gpu-box",))
    assert told(diagnosed(target)) == told(diagnosed(Recording(KIMI)))


def test_links_hidden_files_and_owners_stay_behind(tmp_path: Path) -> None:
    root = tmp_path / "r"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").touch()
    (root / "incident.yaml").write_text("id: x\n")
    (root / "link").symlink_to("/etc/hostname")
    pack(root, tmp_path / "r.tar.gz")
    with tarfile.open(tmp_path / "r.tar.gz") as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == ["r/incident.yaml"]
    assert (members[0].uid, members[0].uname, members[0].gname) == (0, "", "")


def test_it_lies_beside_the_folder_and_takes_no_other_files_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packed_name(Path("a/b")) == Path("a/b.tar.gz")
    monkeypatch.chdir(tmp_path)
    assert packed_name(Path()) == tmp_path.with_name(f"{tmp_path.name}.tar.gz")
    (tmp_path / "x.tar.gz").touch()
    with pytest.raises(UserError, match="is there already"):
        refuse_taken(tmp_path / "x.tar.gz", force=False)
    refuse_taken(tmp_path / "x.tar.gz", force=True)


def test_a_full_disk_leaves_no_half_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(archive: tarfile.TarFile, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "add", full)
    with pytest.raises(CannotWrite, match="the disk is full"):
        pack(KIMI, tmp_path / "k.tar.gz")
    assert list(tmp_path.iterdir()) == []
