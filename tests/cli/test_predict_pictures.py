import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from tests.cli.test_predict import recording, with_model

ASKED = ("--set", "pp_max_micro_batch_size=1")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["predict", *words]) == ExitStatus.OK
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(shown(capsys, *words, "--format", "json"))


def test_the_terminal_gets_a_chart_and_both_timelines_in_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, str(recording(tmp_path / "r")), *ASKED)
    lines = text.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    assert "* measured   - as it is   : forecast, limit 1   a limit 2   b limit 4" in text
    assert sum("*" in line.split("|")[-1] for line in lines if "|" in line) == 3
    assert "Now, if 1 of 8 slots is filled, 8 tokens every 83.7 ms, 95.6 tok/s" in text
    assert "Then: 8 of 8 slots are filled, forecast" in text
    assert "a forecast by the ring model, never measured" in " ".join(text.split())
    proposed = [line for line in lines if line.startswith("stage ")][-8:]
    assert all(line.endswith(("100%", "99%")) for line in proposed)


def test_the_table_holds_ranges_and_what_a_limit_does_not_touch_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = told(capsys, str(recording(tmp_path / "r")), *ASKED)["table"]
    cells = {(row["slot_limit"], row["max_concurrency"]): row for row in table}
    assert cells[8, 8] == {"slot_limit": 8, "max_concurrency": 8, "tokens_per_s": 95.6, "low": 95.6, "high": 95.6}
    assert cells[1, 1]["tokens_per_s"] == 24.7
    assert 95.6 < cells[1, 8]["low"] < cells[1, 8]["tokens_per_s"] < cells[1, 8]["high"]
    # A limit of 1 over 8 slots admits 8. That none is faster than one request alone, 8 x 24.7 tok/s and 2 % of noise,
    # bounds 8 requests and not a queue of 16, which leaves none of the pauses that are in a turn out of throughput.
    assert cells[1, 16]["low"] == cells[1, 8]["low"]
    assert cells[1, 8]["high"] == pytest.approx(8 * 24.7 / 0.98, abs=0.1)
    assert cells[1, 8]["high"] < cells[1, 16]["high"] < 1.1 * cells[1, 8]["high"]


def test_the_cell_that_was_asked_for_is_the_forecast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (ASKED, (*ASKED, "--set", "disable_cuda_graph=false")):
        found = told(capsys, str(with_model(tmp_path / str(len(words)))), *words)
        cell = next(row for row in found["table"] if (row["slot_limit"], row["max_concurrency"]) == (1, 8))
        assert (cell["low"], cell["high"]) == (found["predicted"]["low"], found["predicted"]["high"])


def test_without_a_limit_in_force_the_chart_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, str(recording(tmp_path / "r")), "--set", "disable_cuda_graph=false")
    assert ": forecast, no limit in force" in text
    assert "limit 1" in text and "Then: 1 of 8 slots is filled" in text


def test_timelines_say_how_long_each_stage_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    *now, then = told(capsys, str(recording(tmp_path / "r")), *ASKED)["timelines"]
    assert now[0]["filled_slots"] == 1
    assert now[0]["turn_ms"] == pytest.approx(8000 / 95.6, abs=0.01)
    assert sum(now[0]["stage_taken"]) == pytest.approx(1, abs=0.01)
    assert then["filled_slots"] == 8
    assert max(then["stage_taken"]) == 1
    assert then["turn_ms"] < 0.7 * now[0]["turn_ms"]


def test_a_lane_after_a_split_follows_its_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (*ASKED, "--set", "SGLANG_PP_LAYER_PARTITION=5,5,5,5,5,5,5,26")
    then = told(capsys, str(with_model(tmp_path)), *words)["timelines"][-1]
    assert then["stage_taken"][7] == 1
    assert then["stage_taken"][0] == pytest.approx(5 / 26, abs=0.01)


def test_a_ring_by_its_numbers_is_drawn_as_given(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--stages", "4", "--stage-ms", "10", "--per-request-ms", "2", *ASKED)
    text = shown(capsys, *words)
    assert "Now: 1 of 4 slots is filled, 4 tokens every" in text
    assert "* measured" not in text
    assert "Stage times as given, nothing measured. Requests" in " ".join(text.split())
    now, then = told(capsys, *words)["timelines"]
    assert (now["filled_slots"], then["filled_slots"]) == (1, 4)
    assert now["turn_ms"] == pytest.approx(4 * (10 + 4 * 2) + 4 * 0.1, abs=0.5)


def test_one_request_gives_one_token_a_turn(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "--stages", "2", "--stage-ms", "10", "--at-concurrency", "1")
    assert "1 token every 20.2 ms, 49.5 tok/s" in " ".join(text.split())


def test_a_page_goes_into_a_file_by_its_suffix_and_loads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "p.html"
    assert shown(capsys, str(recording(tmp_path / "r")), *ASKED, "-o", str(page)) == ""
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "default-src 'none'" in text and "script-src 'none'" in text
    assert "<script" not in text and "src=" not in text and "http" not in text.replace("http-equiv", "")
    assert text.count("<svg") == 4
    assert "at C=8: " in text and "now 95.6: helps." in text


def test_the_pictures_go_into_one_svg_file_beside_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "p.svg"
    text = shown(capsys, str(recording(tmp_path / "r")), *ASKED, "--svg", str(drawn))
    assert "at C=8: " in text
    root = ElementTree.parse(drawn).getroot()
    words = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Tokens a second by load", "Which stage works when", "forecast, limit 1"} <= set(words)
    assert any("At C=8: " in each for each in words)
    width = float(root.get("width", 0))
    assert all(24 + 0.56 * 12 * len(each) < width + 24 for each in words)


def test_a_name_in_the_title_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = recording(tmp_path / "<img src=x>\x1b[31m")
    page = shown(capsys, str(folder), *ASKED, "--format", "html")
    assert "<img" not in page and "&lt;img src=x&gt;" in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    "times", [("--stage-ms", "0"), ("--hop-ms", "-1"), ("--host-ms", "nan"), ("--stage-ms", "inf")]
)
def test_times_that_turn_no_ring_are_a_users_error(times: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--stages", "4", "--hop-ms", "0", *times]) == ExitStatus.USAGE
    assert "Traceback" not in capsys.readouterr().err
