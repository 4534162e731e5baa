"""The tables of `ppagent predict`: ranges, other shapes of the cards, the tool's own record."""

import json
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.cli.predict_table import span
from ppagent.errors import ExitStatus
from tests.cli.test_predict import asked, recording, refused

SEED = str(Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["predict", *words]) == ExitStatus.OK
    return capsys.readouterr().out.splitlines()


def row(lines: list[str], name: str) -> list[str]:
    return next(line.split() for line in lines if line.split()[:1] == [name])


def test_the_table_prints_the_range_of_every_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    assert "the range of a forecast" not in " ".join(printed(capsys, "--stages", "4"))
    lines = printed(capsys, SEED)
    assert "two figures are the range of a forecast" in " ".join(lines).replace("  ", " ")
    assert row(lines, "limit") == ["limit", "C=1", "C=4", "C=8", "C=16"]
    # As in JSON: 161.8 to 197.7 with limit 1; at C=1 no limit moves a request.
    assert row(lines, "1") == ["1", "24.7", "87-101", "162-198", "162-198"]


def test_the_other_shapes_are_told_as_ranges_with_their_source(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, SEED)
    assert row(lines, "shape") == ["shape", "C=1", "C=1", "max", "C=8", "KV"]
    assert row(lines, "measured") == ["measured", "24.7", "95.6"]
    assert row(lines, "TP2xPP4")[:3] == ["TP2xPP4", "38.7-59.4", "109"]
    assert row(lines, "TP8") == ["TP8", "90-101", "435", "356-524", "286k"]
    assert "C=1 max is what one request alone cannot pass" in " ".join(" ".join(lines).split())
    assert "one public report" in " ".join(lines)
    found = asked(capsys, SEED)["shapes"]
    assert found["rows"][-1]["at_1"] == [89.9, 101.4]
    assert found["max_concurrency"] == 8


def test_shapes_that_cannot_be_priced_are_said_not_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(" ".join(printed(capsys, str(recording(tmp_path)))).split())
    assert "shapes of these cards are not priced: the model's config and the cards must be known" in text


def test_another_shape_is_no_setting_and_the_answer_says_where_to_look() -> None:
    assert "the answer has a table of the TPxPP shapes" in str(refused("--stages", "8", "--set", "tp_size=2"))


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(Path(SEED).parent)  # a path that is named is printed whole
    assert max(len(line) for line in printed(capsys, Path(SEED).name)) <= width


def test_the_tools_own_record_stands_beside_its_forecast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ring = ("--stages", "4", "--stage-ms", "10")
    assert asked(capsys, *ring)["own_record"] == ""
    rows = (
        {"kind": "forecast", "id": "a", "baseline": 95, "low": 162, "high": 198},
        {"kind": "measured", "id": "a", "before": 95, "after": 170, "outcome": "better"},
    )
    (tmp_path / "ppagent").mkdir()
    (tmp_path / "ppagent" / "forecasts.jsonl").write_text("\n".join(json.dumps(each) for each in rows), "utf-8")
    says = "1 forecast so far, error 5%, 1 inside the range"
    assert f"  own record: {says}" in printed(capsys, *ring)
    assert asked(capsys, *ring)["own_record"] == says
    page = tmp_path / "page.html"
    assert main(["predict", *ring, "-o", str(page)]) == ExitStatus.OK
    assert says in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("low", "high", "printed_as"),
    [(24.7, 24.7, "24.7"), (87.04, 101.3, "87-101"), (9.04, 9.96, "9.0-10.0"), (161.8, 197.7, "162-198")],
)
def test_a_range_has_as_many_digits_as_its_larger_end_needs(low: float, high: float, printed_as: str) -> None:
    assert span(low, high) == printed_as
