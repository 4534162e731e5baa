"""Whatever is in a recording's folder is whole, and nothing of anyone else's is taken out of it."""

import errno
from pathlib import Path

import pytest

from ppagent.errors import ExitStatus, UserError
from ppagent.record.folder import CannotWrite, Folder, prepare


def test_a_file_is_written_with_its_folders_and_its_odd_bytes(tmp_path: Path) -> None:
    assert Folder(tmp_path / "r").write("hosts/a/server.log", "\udcffx\r\n") == 4
    assert (tmp_path / "r/hosts/a/server.log").read_bytes() == b"\xffx\r\n"


@pytest.mark.parametrize(("number", "said"), [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "Read-only")])
def test_a_write_that_fails_leaves_what_was_there_and_nothing_half_written(
    number: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    folder.write("hosts/a/x.txt", "old")

    def fail(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:2])
        raise OSError(number, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(CannotWrite, match=said) as caught:
        folder.write("hosts/a/x.txt", "new")
    assert caught.value.status is ExitStatus.FAILURE
    assert [(path.name, path.read_text()) for path in (tmp_path / "hosts/a").iterdir()] == [("x.txt", "old")]


def test_ctrl_c_in_the_middle_of_a_write_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(path: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Folder(tmp_path).write("x.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UserError, match="holds mine.txt"):
        prepare(tmp_path, force=False)
    with pytest.raises(UserError, match="is a file"):
        prepare(tmp_path / "mine.txt", force=True)


def test_an_empty_folder_and_a_new_one_below_others_will_do(tmp_path: Path) -> None:
    assert prepare(tmp_path, force=False).root == tmp_path
    assert prepare(tmp_path / "a" / "b", force=False).root.is_dir()


def test_force_takes_out_an_earlier_recording_and_nothing_else(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").touch()
    root = tmp_path / "r"
    for place in ("incident.yaml", "answer.yaml", "mine.txt", "hosts/a/server.log", "hosts/a/metrics/1.prom",
                  "hosts/a/traces/x.gz", "hosts/a/mine.txt", "hosts/odd/readme"):  # fmt: skip
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).touch()
    (root / "hosts/a/source").symlink_to(elsewhere)
    (root / "hosts/b").symlink_to(elsewhere)

    prepare(root, force=True)

    left = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert left == {"answer.yaml", "mine.txt", "hosts/a/mine.txt", "hosts/odd/readme"}
    assert (elsewhere / "kept.txt").exists()
