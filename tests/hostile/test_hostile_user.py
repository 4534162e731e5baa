"""Somebody without rights: folders and files that may not be read, a home that is not there or not writable."""

import pwd
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hostile_runs import environment, ppagent

from ppagent.cli.surroundings import have_a_home
from ppagent.errors import ExitStatus

LINE = (
    "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 3, #token: 9, token usage: 0.01, cuda graph: True, "
    "gen throughput (token/s): 95.50, #queue-req: 0\n"
)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account may enter, as pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="pp hostile ") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)


def a_recording(folder: Path) -> Path:
    host = folder / "case" / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "server.log").write_text(LINE * 9, "utf-8")
    (host / "launch.txt").write_text("python -m sglang.launch_server --model-path m --pp-size 4\n", "utf-8")
    return folder / "case"


@pytest.mark.parametrize("closed", [".", "hosts"])
@pytest.mark.parametrize("command", ["diagnose", "check", "flags", "predict"])
def test_a_folder_that_may_not_be_read_is_said_to_be_so(command: str, closed: str, open_folder: Path) -> None:
    case = a_recording(open_folder)
    (case / closed).chmod(0)

    done = ppagent([command, str(case)], unprivileged=True)

    assert done.returncode == ExitStatus.USAGE
    assert done.stderr.startswith(f"ppagent: {case} cannot be read: Permission denied.")
    assert done.stderr.count("\n") == 1


def test_files_that_may_not_be_read_are_missing_evidence_with_the_reason(open_folder: Path) -> None:
    case = a_recording(open_folder)
    (case / "hosts" / "box" / "server.log").chmod(0)
    (case / "hosts" / "box" / "launch.txt").chmod(0)

    done = ppagent(["diagnose", str(case)], unprivileged=True)

    shown = " ".join(done.stdout.split())
    assert done.returncode == ExitStatus.NOT_ENOUGH_EVIDENCE and done.stderr == ""
    assert "launch.txt cannot be read: Permission denied" in shown
    assert "server.log cannot be read to its end: Permission denied" in shown
    assert "Errno" not in shown


def test_a_host_that_may_not_be_looked_into_stays_a_host(open_folder: Path) -> None:
    case = a_recording(open_folder)
    (case / "hosts" / "box").chmod(0)

    done = ppagent(["diagnose", str(case)], unprivileged=True)

    assert done.returncode == ExitStatus.NOT_ENOUGH_EVIDENCE
    assert "Permission denied" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("command", ["diagnose", "check", "flags"])
@pytest.mark.parametrize("name", ["one.log", "session.jsonl", "launch.txt", "case.tar.gz"])
def test_a_single_file_that_may_not_be_read_is_one_sentence(name: str, command: str, open_folder: Path) -> None:
    (open_folder / name).write_text(LINE, "utf-8")
    (open_folder / name).chmod(0)

    done = ppagent([command, str(open_folder / name)], unprivileged=True)

    assert done.returncode in (ExitStatus.USAGE, ExitStatus.FAILURE)
    assert done.stderr.count("\n") == 1 and name in done.stderr
    assert command == "flags" or "Permission denied" in done.stderr


@pytest.mark.parametrize("home", [None, "", "/nonexistent", "/proc/self", "relative/home"])
@pytest.mark.parametrize("command", ["diagnose CASE", "check CASE --version 0.5.10", "tools"])
def test_no_home_is_needed_to_read(command: str, home: str | None, open_folder: Path) -> None:
    environ = {name: value for name, value in environment().items() if not name.startswith("XDG_")}
    environ.pop("HOME")
    case = a_recording(open_folder)

    done = ppagent(
        [str(case) if word == "CASE" else word for word in command.split()],
        folder=Path("/"),
        environ=environ if home is None else {**environ, "HOME": home},
        unprivileged=True,
    )

    assert done.returncode == (ExitStatus.NOT_ENOUGH_EVIDENCE if "diagnose" in command else ExitStatus.OK)
    assert done.stderr == "" and done.stdout


def test_an_account_that_no_file_knows_has_the_root_for_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_user: int) -> NoReturn:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)

    have_a_home()

    assert Path.home() == Path("/")


@pytest.mark.parametrize("command", ["diagnose CASE", "try http://127.0.0.1:9 --restore", "bench http://127.0.0.1:9"])
def test_the_home_of_somebody_else_is_no_reason_to_break(command: str, open_folder: Path) -> None:
    home = open_folder / "root"
    home.mkdir(mode=0)
    environ = {name: value for name, value in environment(HOME=str(home)).items() if not name.startswith("XDG_")}
    case = a_recording(open_folder)

    done = ppagent(
        [str(case) if word == "CASE" else word for word in command.split()], environ=environ, unprivileged=True
    )

    assert "Traceback" not in done.stderr
    assert done.returncode == (ExitStatus.NOT_ENOUGH_EVIDENCE if "diagnose" in command else ExitStatus.FAILURE)


@pytest.mark.parametrize("odd", ["", "relative", "/dev/null", "/proc", "~", "/nonexistent/\udcff"])
def test_odd_xdg_folders_stop_no_reading(odd: str, open_folder: Path) -> None:
    environ = environment(XDG_STATE_HOME=odd, XDG_CONFIG_HOME=odd, XDG_DATA_HOME=odd, XDG_CACHE_HOME=odd)

    done = ppagent(["diagnose", str(a_recording(open_folder))], environ=environ, unprivileged=True)

    assert done.stderr == ""
    assert done.returncode == ExitStatus.NOT_ENOUGH_EVIDENCE
