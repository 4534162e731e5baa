"""What a name may lead to: pipes, sockets, devices, links in a loop, odd names, archives that mean harm."""

import io
import os
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_cases import copied, diagnosed, host_of, supported

from ppagent.cli.main import main
from ppagent.errors import ExitStatus

LINE = b"[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 3, #token: 9, token usage: 0.01, #queue-req: 0\n"
Make = Callable[[Path], object]


def a_socket(path: Path) -> None:
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


ODD: dict[str, Make] = {
    "pipe": os.mkfifo,
    "socket": a_socket,
    "folder": Path.mkdir,
    "loop": lambda path: path.symlink_to(path),
    "nowhere": lambda path: path.symlink_to("/no/such/file"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "zero": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("command", ["diagnose", "check", "flags"])
def test_what_is_no_file_is_refused_at_once(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ODD[kind](tmp_path / "server.log")

    status = main([command, str(tmp_path / "server.log")])

    assert status == ExitStatus.USAGE
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("kind", ODD)
def test_an_artifact_that_is_no_file_is_missing_and_stops_nothing(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = copied("kimi-k26-pp8", tmp_path)
    for name in ("gpus.csv", "dmesg.txt", "server_info.json"):
        (host_of(case) / name).unlink(missing_ok=True)
        ODD[kind](host_of(case) / name)

    assert set(supported(diagnosed(case, capsys))) == {"PP001", "CG001"}


def test_a_link_to_a_file_of_this_machine_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copied("kimi-k26-pp8", tmp_path)
    (tmp_path / "mine.txt").write_text("NCCL_DEBUG=my own words\n", "utf-8")
    for name in ("environment.txt", "dmesg.txt", "host.json"):
        (host_of(case) / name).symlink_to(tmp_path / "mine.txt")

    main(["diagnose", str(case), "--format", "json"])
    main(["record", str(case), "-o", str(tmp_path / "sent")])

    assert "my own words" not in capsys.readouterr().out
    assert not any(
        "my own words" in path.read_text("utf-8") for path in (tmp_path / "sent").rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    "name", ["a b", "a\nb", "-dash", "\u00fcn\u00ef \u6a21", "'; touch pwned; '", "$(touch pwned)", "\udcff", "%s{}"]
)
def test_a_recording_may_be_called_anything(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copied("kimi-k26-pp8", tmp_path).rename(tmp_path / name)

    main(["diagnose", "--format", "json", "--", name])

    assert "PP001" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == [name]


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for member, data in (_file("case/hosts/b/server.log", LINE * 5), *members):
            archive.addfile(member, io.BytesIO(data))
    return path


def _file(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    return member, data


def _of_type(kind: bytes, to: str = "/etc/passwd") -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo("case/odd")
    member.type, member.linkname = kind, to
    return member, b""


@pytest.mark.parametrize(
    "member",
    [
        _file("/tmp/pwned", b"x"),
        _file("../pwned", b"x"),
        _file("case/../../pwned", b"x"),
        _file("case/hosts/b", b"x"),
        _file("case/hosts/b/server.log", b"twice"),
        _file("case/hosts/b/server.log/x", b"x"),
        _file("case/" + "d/" * 300, b""),
        _of_type(tarfile.SYMTYPE),
        _of_type(tarfile.LNKTYPE),
        _of_type(tarfile.CHRTYPE),
        _of_type(tarfile.FIFOTYPE),
    ],
)
def test_an_archive_that_means_harm_is_one_sentence_and_leaves_nothing(
    member: tuple[tarfile.TarInfo, bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    assert main(["diagnose", str(packed(tmp_path / "case.tar", member))]) == ExitStatus.USAGE

    assert "unpacked" in capsys.readouterr().err
    assert list((tmp_path / "temporary").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.tar", "temporary"]
