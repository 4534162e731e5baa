"""gpus.csv as it should not be: other programs' tables, cells that are no measure, files appended to and cut off."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_cases import copied, diagnosed, facts, host_of, supported

from ppagent.cli.main import main

HEALTHY = "healthy-pp4-loaded"


def spoiled(folder: Path, spoil: Callable[[str], str | bytes]) -> Path:
    case = copied(HEALTHY, folder)
    path = host_of(case) / "gpus.csv"
    new = spoil(path.read_text("utf-8"))
    path.write_bytes(new if isinstance(new, bytes) else new.encode())
    return case


def column(name: str, cell: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        head, *rows = (line.split(",") for line in text.splitlines())
        place = head.index(name)
        return "\n".join(",".join(row) for row in [head, *([*row[:place], cell, *row[place + 1 :]] for row in rows)])

    return change


@pytest.mark.parametrize(
    ("name", "fact"),
    [("utilization.gpu", "gpu.utilization"), ("power.draw", "gpu.power_w"), ("power.limit", "gpu.power_limit_w")],
)
@pytest.mark.parametrize(
    "cell",
    [
        "[N/A]",
        "[Not Supported]",
        "[Unknown Error]",
        "ERR!",
        "",
        "-5",
        "NaN",
        "inf",
        "1e308",
        "9" * 400,
        "0x10",
        "99999",
    ],
)
def test_a_cell_that_is_no_measure_is_not_known(
    cell: str, name: str, fact: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = diagnosed(spoiled(tmp_path, column(name, cell)), capsys)

    assert fact not in facts(report) and facts(report)["gpu.count"] == 4
    assert not supported(report)


@pytest.mark.parametrize("name", ["power.draw", "power.limit"])
def test_no_power_at_all_is_not_known(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = diagnosed(spoiled(tmp_path, column(name, "0.00")), capsys)

    assert ("gpu.power_w" if name == "power.draw" else "gpu.power_limit_w") not in facts(report)
    assert not supported(report)


def semicolons(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join([head.replace(",", ";"), *(row.replace(",", ";").replace(".", ",") for row in rows)])


def appended(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join(line for place in range(0, len(rows), 4) for line in (head, *rows[place : place + 4]))


def with_units(text: str) -> str:
    units = {"utilization.gpu": "%", "power.draw": "W", "power.limit": "W", "memory.used": "MiB", "clocks.sm": "MHz"}
    head, *rows = (line.split(",") for line in text.splitlines())
    named = [f"{name} [{units[name]}]" if name in units else name for name in head]
    given = [
        [f"{cell} {units[name]}" if name in units else cell for name, cell in zip(head, row, strict=True)]
        for row in rows
    ]
    return "\n".join(", ".join(row) for row in [named, *given])


@pytest.mark.parametrize(
    "form",
    [
        semicolons,
        appended,
        with_units,
        lambda text: text.encode("utf-16"),
        lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        lambda text: text + text.splitlines()[-1][:40],
        lambda text: text.replace(",", "\t"),
    ],
)
def test_other_forms_of_the_table_are_read_the_same(
    form: Callable[[str], str | bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = facts(diagnosed(copied(HEALTHY, tmp_path / "clean"), capsys), "gpu.")

    found = facts(diagnosed(spoiled(tmp_path / "spoiled", form), capsys), "gpu.")

    assert len(clean) > 10 and found == clean


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (lambda text: text.partition("\n")[2], "no column of nvidia-smi is in its header"),
        (lambda text: text.encode("utf-16-be"), "no column of nvidia-smi is in its header"),
        (lambda _: "device,Temperature (C),GPU use (%)\ncard0,42.0,36\n", "no column of nvidia-smi is in its header"),
        (lambda _: "==== ROCm System Management Interface ====\nGPU  Temp  AvgPwr\n0  42.0c  36.0W\n", "a header"),
        (lambda _: "NVIDIA-SMI has failed because it couldn't talk to the driver.\n", "a header"),
        (lambda _: "No devices were found\n", "a header with column names was expected"),
        (lambda text: text.replace("name,", "name,uuid,", 1), "no whole row under the header"),
        (lambda text: text.replace(",0,", ",0:1,"), "'0:1' is no GPU index"),
        (lambda text: text.replace(",0,", "," + "9" * 30 + ","), "is no GPU index"),
    ],
)
def test_what_is_no_such_table_is_named_and_stands_for_nothing(
    form: Callable[[str], str | bytes], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = spoiled(tmp_path, form)

    main(["diagnose", str(case)])

    assert said in " ".join(capsys.readouterr().out.split())
    assert "gpu.count" not in facts(diagnosed(case, capsys))


def test_an_open_quote_spoils_its_own_row_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = diagnosed(spoiled(tmp_path, lambda text: text.replace("\n2026", '\n"2026', 1)), capsys)

    assert facts(report)["gpu.count"] == 4


def test_of_very_many_rows_the_newest_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def many(text: str) -> str:
        head, *rows = text.splitlines()
        return "\n".join([head, *["broken"] * 40_000, *rows])

    assert facts(diagnosed(spoiled(tmp_path, many), capsys))["gpu.count"] == 4
