"""What `ppagent bench` prints of its levels."""

import pytest

from ppagent.bench.table import table_of

ROW = {
    "max_concurrency": 8, "think_time_s": 0.1, "output_throughput": 95.61, "steady_output_throughput": 97.2,
    "steady_error_share": 0.014, "median_ttft_ms": 120.4, "p99_ttft_ms": 1310.0, "median_itl_ms": 83.71,
    "p99_itl_ms": 1200.5, "mean_tpot_ms": 84.2, "median_e2e_latency_ms": 5321.0, "concurrency": 7.91,
    "server_in_flight": 8.0, "server_slot_running_p50": 8, "failed": 0,
}  # fmt: skip
SPEED = "    C think s   tok/s  steady    +/-    in flight  slot  failed"
WAITS = "    C think s  TTFT p50  p99 ms  ITL p50  p99 ms    TPOT  E2E p50 s"


def test_a_level_is_told_in_two_tables_that_fit_80_columns() -> None:
    told = table_of([ROW, {**ROW, "max_concurrency": 1024, "think_time_s": 0, "output_throughput": 123456.7}])
    lines = told.splitlines()
    assert lines[:3] == [
        SPEED,
        "    8     0.1   95.61    97.2   1.4%       7.91/8     8       0",
        " 1024       0  123457    97.2   1.4%       7.91/8     8       0",
    ]
    assert lines[lines.index(WAITS) + 1] == "    8     0.1     120.4    1310    83.71    1200    84.2       5.32"
    assert all(len(line) <= 80 for line in lines)


def test_a_remark_names_its_levels_and_is_said_once() -> None:
    late = "the client was late: its own CPU was busy, so that the times between two tokens are too long by that"
    told = table_of([{**ROW, "warnings": [late]}, {**ROW, "max_concurrency": 16, "warnings": [late, "cut short"]}])
    words = " ".join(told.split())
    assert words.count(late) == 1
    assert f"! C=8 think 0.1 s, C=16 think 0.1 s: {late} ! C=16 think 0.1 s: cut short" in words
    assert all(len(line) <= 80 for line in told.splitlines())


@pytest.mark.parametrize(
    ("row", "cells"),
    [({}, ["None/s", "-", "-", "-", "-", "-/-", "-", "-"]), ({"request_rate": 2.5}, ["2.5/s", "-"])],
)
def test_what_was_not_measured_is_a_dash(row: dict[str, object], cells: list[str]) -> None:
    assert table_of([row]).splitlines()[1].split()[: len(cells)] == cells
