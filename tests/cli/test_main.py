import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppagent.cli import main as frame
from ppagent.cli.main import COMMANDS, main
from ppagent.errors import ExitStatus, NotRecorded, UserError

ROOT = Path(__file__).parents[2]
HEAVY = {"httpcore2", "httpx2", "langchain_core", "langgraph", "numpy", "openai"} | {
    "paramiko", "prompt_toolkit", "pydantic", "rich", "yaml",
}  # fmt: skip


def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_help_imports_nothing_heavy() -> None:
    done = run("-X", "importtime", "-m", "ppagent.cli.main", "--help")

    imported = {line.split("|")[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "ppagent" in imported
    assert not imported & HEAVY


def test_help_names_every_command_and_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "3 not enough evidence" in shown
    assert max(map(len, shown.splitlines())) <= 90


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_eighty_columns_and_begins_as_a_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == ExitStatus.OK
    usage, told = capsys.readouterr().out.split("\n\n", 1)
    assert max(map(len, [*usage.splitlines(), *told.splitlines()])) <= 80
    assert told[0].isupper()


def test_the_examples_of_a_help_keep_their_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main(["try", "--help"])
    shown = capsys.readouterr().out
    assert "\n  ppagent try TARGET --restore\n      put back what a trial that died left behind\n" in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "ppagent 0.1.0\n"


def test_without_a_command_help_goes_to_the_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ExitStatus.USAGE
    assert "commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("diagnos", "`ppagent diagnose`"),
        ("-", "`ppagent diagnose -`"),
        ("no/such.log", "`ppagent diagnose no/such.log`"),
    ],
)
def test_an_unknown_command_is_met_with_what_was_probably_meant(
    word: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == ExitStatus.USAGE
    assert capsys.readouterr().err == f"ppagent: There is no command {word}. Did you mean {advice}?\n"


def test_an_unknown_option_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["tools", "--frobnicate"])

    assert stopped.value.code == ExitStatus.USAGE
    assert "unrecognized arguments: --frobnicate" in capsys.readouterr().err


def raising(error: BaseException) -> object:
    def run(name: str, words: list[str]) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UserError("No port.", "Name it."), ExitStatus.USAGE, "ppagent: No port. Name it.\n"),
        (UserError("Full.", "Free some.", ExitStatus.FAILURE), ExitStatus.FAILURE, "ppagent: Full. Free some.\n"),
        (NotRecorded("no server.log"), ExitStatus.FAILURE, "ppagent: no server.log\n"),
        (KeyboardInterrupt(), ExitStatus.CANCELLED, "ppagent: cancelled.\n"),
    ],
)
def test_an_error_becomes_one_sentence_and_a_status(
    error: BaseException,
    status: ExitStatus,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(frame, "_run_command", raising(error))

    assert main(["tools"]) == status
    assert capsys.readouterr().err == said


def test_a_bug_is_left_to_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "_run_command", raising(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        main(["tools"])


def test_a_reader_that_leaves_early_gets_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        command = [sys.executable, "-m", "ppagent.cli.main", "--help"]
        done = subprocess.run(command, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)

    assert done.stderr == ""
    assert done.returncode == ExitStatus.FAILURE


def test_a_terminal_without_utf8_shows_what_it_can() -> None:
    code = "from ppagent.cli import main as m; m._help = lambda: 'a · b'; m.main(['--help'])"

    done = run("-c", code, env={**os.environ, "PYTHONIOENCODING": "ascii"})

    assert done.stdout == "a \\xb7 b"
