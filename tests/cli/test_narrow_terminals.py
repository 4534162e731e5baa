"""What a terminal of forty columns shows of each command."""

from pathlib import Path

import pytest

from ppagent.causes.catalog import all_causes
from ppagent.cli.main import COMMANDS, main

INCIDENT = Path(__file__).parents[2] / "evals" / "incidents" / "lab-pp8-b"


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["explain"],
        ["explain", "PP001"],
        ["explain", "--pp-max-micro-batch-size"],
        ["flags", "--version", "0.5.10", "pp"],
        ["tools"],
        ["predict", str(INCIDENT)],
        ["eval", str(INCIDENT)],
    ],
    ids=" ".join,
)
def test_no_line_of_several_words_is_wider_than_the_terminal(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > 40 and " " in line.strip()] == []


def test_a_page_keeps_all_its_words_however_it_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ppagent.causes.catalog import page

    monkeypatch.setenv("COLUMNS", "40")
    for cause in all_causes():
        main(["explain", cause.id])
        assert capsys.readouterr().out.split() == page(cause).split()


def test_the_help_names_every_command_and_status_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "130 cancelled" in shown
    assert max(map(len, shown.splitlines())) <= 80
