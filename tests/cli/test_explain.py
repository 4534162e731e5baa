import pytest

from ppagent.causes.catalog import all_causes
from ppagent.cli.main import main
from ppagent.errors import ExitStatus


@pytest.mark.parametrize("name", ["PP002", "pp002"])
def test_a_cause_is_explained_by_its_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("PP002 concurrency below pipeline depth\n")
    assert "\nWhat refutes it\n" in shown


def test_without_a_name_the_causes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(all_causes())


def test_a_cause_that_does_not_exist_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PP999"]) == ExitStatus.USAGE
    assert "There is no cause PP999." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--pp-size"], ["pp_size"], ["--version", "0.5.10", "--pp-size"]])
def test_a_flag_is_explained_by_its_history(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *words]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("--pp-size\n")
    assert "\nHistory\n" in shown


def test_what_is_neither_cause_nor_flag_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "why?"]) == ExitStatus.USAGE
    assert "neither a cause nor a flag" in capsys.readouterr().err


def test_one_name_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PP001", "PP002"]) == ExitStatus.USAGE
    assert "more than one name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--version", "0.5.10"], "Without a flag --version changes nothing."),
        (["PP001", "--version", "0.5.10"], "PP001 is a cause, and --version changes nothing."),
        (["pp001", "--tree", "x", "--target", "y"], "PP001 is a cause, and --tree and --target change nothing."),
    ],
)
def test_a_version_without_a_flag_is_refused(words: list[str], wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *words]) == ExitStatus.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"ppagent: {wrong} Name a flag too" in shown.err


@pytest.mark.parametrize(
    "name", ["pp-max-microbatch-size", "pp_max_microbatch_size", "--pp_max_microbatch_size", "ppmaxmicrobatchsize"]
)
def test_a_misspelt_flag_gets_the_nearest_one_however_it_is_written(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == ExitStatus.USAGE
    assert "Nearest in 0.5.23: --pp-max-micro-batch-size," in capsys.readouterr().err


@pytest.mark.parametrize("name", ["port", "pp-size", "PP-Size"])
def test_a_flag_needs_no_dashes_in_front(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(f"--{name.lower()}\n")
