import json
import threading
from pathlib import Path

import pytest

from ppagent.errors import ToolError
from ppagent.ledger import (
    FILE,
    Forecasted,
    Measured,
    append,
    data_folder,
    record_forecast,
    record_measured,
    track_record,
)
from ppagent.report.document import document_of
from tests.report.samples import diagnosed


def forecast(number: int, low: float = 160, high: float = 200, baseline: float = 100) -> Forecasted:
    change = {"pp_max_micro_batch_size": "1"}
    return Forecasted(f"f{number}", "now", "http://x", "0.5.23", change, "output_throughput", 8, baseline, low, high)


def measured(number: int, after: float, before: float = 100, outcome: str = "better") -> Measured:
    return Measured(f"f{number}", "now", before, after, 0.03, outcome)  # type: ignore[arg-type]


def test_a_forecast_is_scored_by_its_middle_once_it_was_measured(tmp_path: Path) -> None:
    record_forecast(forecast(1, low=160, high=250), tmp_path)  # middle 200
    assert track_record(tmp_path).count == 0
    record_measured(measured(1, after=220), tmp_path)
    record_forecast(forecast(2, low=100, high=100), tmp_path)
    record_measured(measured(2, after=130), tmp_path)
    found = track_record(tmp_path)
    assert (found.count, found.inside) == (2, 1)
    assert found.mean_error == pytest.approx((0.1 + 0.3) / 2)
    assert found.says == "2 forecasts so far, error 20%, 1 inside the range"


def test_gains_are_compared_so_that_a_baseline_may_move(tmp_path: Path) -> None:
    record_forecast(forecast(1, low=180, high=180, baseline=100), tmp_path)
    record_measured(measured(1, before=50, after=90), tmp_path)
    assert track_record(tmp_path).mean_error == pytest.approx(0.0)


def test_a_measurement_that_could_tell_nothing_scores_nothing(tmp_path: Path) -> None:
    record_forecast(forecast(1), tmp_path)
    record_measured(measured(1, after=104, outcome="cannot tell"), tmp_path)
    assert track_record(tmp_path).says == ""


def test_a_line_cut_by_a_crash_loses_itself_only(tmp_path: Path) -> None:
    record_forecast(forecast(1), tmp_path)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"kind": "measu')
    record_measured(measured(1, after=180), tmp_path)
    found = track_record(tmp_path)
    assert (found.count, found.unread) == (1, 1)
    assert "1 lines of its record unreadable" in found.says


def test_several_writers_at_a_time_lose_no_line(tmp_path: Path) -> None:
    def write(start: int) -> None:
        for number in range(start, start + 25):
            append({"kind": "forecast", "id": number, "pad": "x" * 3000}, tmp_path)

    threads = [threading.Thread(target=write, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    assert len({row["id"] for row in rows}) == 100


def test_a_record_that_was_never_begun_is_empty(tmp_path: Path) -> None:
    assert track_record(tmp_path / "nowhere").says == ""


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot be written"):
        record_forecast(forecast(1), tmp_path / "file")


@pytest.mark.parametrize(("value", "kept"), [("/data", Path("/data/ppagent")), ("relative", None), ("", None)])
def test_the_data_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, value: str, kept: Path | None) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", value)
    monkeypatch.setenv("HOME", "/home/me")
    assert data_folder() == (kept or Path("/home/me/.local/share/ppagent"))


def test_a_report_with_a_forecast_tells_how_those_so_far_fared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = diagnosed()
    assert any(proposal.predicted is not None for proposal in found.plan.proposals)
    assert "forecasts so far" not in document_of(found).footer
    for number, after in ((1, 180), (2, 190)):
        record_forecast(forecast(number))
        record_measured(measured(number, after=after))
    assert "2 forecasts so far, error 3%" in document_of(found).footer
