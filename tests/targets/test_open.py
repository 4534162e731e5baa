import gzip
import io
from pathlib import Path

import pytest
from targets_samples import DECODE, write_recording

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.open import _kind_of, open_target
from ppagent.targets.pasted import Pasted
from ppagent.targets.recording import LogFile, Recording

LINE = DECODE.format(s=0, pp=0) + "\n"


def refusal(text: str, stdin: str | None = None) -> UserError:
    with pytest.raises(UserError) as caught:
        open_target(text, None if stdin is None else io.StringIO(stdin))
    assert caught.value.wrong.endswith(".")
    assert caught.value.advice
    return caught.value


def test_more_than_can_be_held_is_refused_with_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.targets.open._MOST_PIPED_MIB", 0)
    assert "give the file" in refusal("-", LINE).advice


def test_a_folder_a_file_and_pasted_text_are_told_apart(tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "case")
    (tmp_path / "a.log").write_text(LINE)
    assert isinstance(open_target(str(folder)), Recording)
    assert isinstance(open_target(str(tmp_path / "a.log")), LogFile)
    assert isinstance(open_target("-", io.StringIO(LINE)), Pasted)


def test_pasted_bytes_need_not_be_text(tmp_path: Path) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"slow \xff server\n" + LINE.encode()), encoding="utf-8")
    target = open_target("-", stdin)
    assert len(list(target.log("pasted"))) == 1


def test_a_gzipped_log_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(LINE.encode()))
    assert list(open_target(str(path)).log("server")) == [LINE.encode()]


def test_a_file_that_holds_a_launch_command_and_no_log_is_read_as_pasted(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("I run\n\n    python -m sglang.launch_server --model-path m --pp-size 8\n\nand it is slow\n")
    assert isinstance(open_target(str(path)), Pasted)


def test_a_missing_path_is_wrong_usage() -> None:
    error = refusal("no/such/thing")
    assert error.wrong == "There is no file or folder no/such/thing."
    assert error.status is ExitStatus.USAGE


@pytest.mark.parametrize("address", ["ssh://", "ssh://-oProxyCommand=x", "ssh://box:99999", "ssh://a b", "ssh://b;ls"])
def test_what_is_no_address_of_a_host_is_refused_before_anything_is_run(address: str) -> None:
    assert address in refusal(address).wrong


def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "is empty" in refusal(str(tmp_path)).wrong


def test_a_folder_of_photos_holds_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"\xff\xd8")
    assert "holds nothing that ppagent knows" in refusal(str(tmp_path)).wrong


def test_a_folder_of_recordings_names_them(tmp_path: Path) -> None:
    write_recording(tmp_path / "case-a")
    write_recording(tmp_path / "case-b")
    assert refusal(str(tmp_path)).advice == "Name one of what it holds: case-a, case-b."


def test_a_log_without_a_line_of_sglang_is_wrong_usage(tmp_path: Path) -> None:
    path = tmp_path / "nginx.log"
    path.write_text('10.0.0.1 - - "GET / HTTP/1.1" 200\n')
    error = refusal(str(path))
    assert "no line of an SGLang server" in error.wrong
    assert error.status is ExitStatus.USAGE


def test_binary_junk_is_said_to_be_binary(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(bytes(range(256)) * 20)
    assert "is a binary file" in refusal(str(path)).wrong


def test_an_empty_file_and_a_broken_archive_are_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "a.log").touch()
    assert "is empty" in refusal(str(tmp_path / "a.log")).wrong
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(b"x" * 9000)[:-9])
    assert "cannot be read to its end" in refusal(str(tmp_path / "b.log.gz")).wrong


@pytest.mark.parametrize("text", ["", " \n", "?!\n"])
def test_pasted_text_without_words_is_refused(text: str) -> None:
    refusal("-", text)


def test_pasted_text_without_a_pipe_is_refused() -> None:
    assert "no pasted text" in refusal("-").wrong


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_log_that_a_windows_shell_wrote_is_a_log(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    mark = "" if encoding.endswith(("sig", "16")) else "\ufeff"
    path.write_bytes((mark + (LINE + "caf\u00e9\n") * 3).encode(encoding))
    target = open_target(str(path))
    lines = list(target.log("server"))
    assert len(lines) == 6
    assert lines[2] == LINE.encode() and lines[3].decode() == "caf\u00e9\n"


def test_a_log_is_known_behind_and_before_a_hole_of_nuls(tmp_path: Path) -> None:
    hole = bytes((3 << 20) + 5)
    (tmp_path / "before.log").write_bytes(LINE.encode() + hole)
    (tmp_path / "behind.log").write_bytes(hole + LINE.encode())
    assert isinstance(open_target(str(tmp_path / "before.log")), LogFile)
    assert isinstance(open_target(str(tmp_path / "behind.log")), LogFile)


def test_a_file_of_nothing_but_nuls_is_binary_however_long(tmp_path: Path) -> None:
    with (tmp_path / "a.log").open("wb") as file:
        file.truncate(200 << 20)
    assert "is a binary file, not a log" in refusal(str(tmp_path / "a.log")).wrong


def test_a_log_whose_packing_ends_too_early_is_known_by_what_can_be_unpacked(tmp_path: Path) -> None:
    whole = gzip.compress((LINE * 3000).encode())
    (tmp_path / "a.log.gz").write_bytes(whole[:-20])
    assert isinstance(open_target(str(tmp_path / "a.log.gz")), LogFile)


def test_a_bracket_that_is_closed_lines_later_makes_no_log_line(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("sglang [2026-05-02 10:00:00\nand more] of it\n")
    assert _kind_of(tmp_path / "note.txt") == "sglang"


@pytest.mark.parametrize(
    ("address", "instead"),
    [
        ("http://127.0.0.1:30000", "Give local --port 30000 instead"),
        ("https://localhost/v1", "Give local instead"),
        ("http://gpu-box:30000/health", "Give ssh://gpu-box --port 30000 instead"),
        ("http://[half", "Give a recording's folder"),
        ("http://box:port", "Give a recording's folder"),
    ],
)
def test_a_server_s_address_is_answered_with_its_host(address: str, instead: str) -> None:
    with pytest.raises(UserError) as raised:
        open_target(address)
    assert raised.value.advice.startswith(instead)
