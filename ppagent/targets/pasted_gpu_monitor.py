"""Rows of `nvidia-smi dmon` and `nvidia-smi pmon`, in pasted text."""

import re

from ppagent.targets.pasted_gpu_rows import PASTED, Row, Seen, process
from ppagent.targets.pasted_sheet import Sheet

_HEAD = re.compile(r"\s*#\s*(?:Date\s+|Time\s+)*gpu\s+(?:pid|pwr|temp|gtemp|sm|mclk|fb|rxpci|pviol)\b.*", re.IGNORECASE)
_UNITS = re.compile(r"\s*#\s*(?:YYYYMMDD\s+|HH:MM:SS\s+)*Idx\b.*")
_COLUMNS = {
    "gpu": "index", "pwr": "power.draw", "temp": "temperature.gpu", "gtemp": "temperature.gpu", "sm": "utilization.gpu",
    "pclk": "clocks.sm", "fb": "memory.used",
}  # fmt: skip
_REASONS = "clocks_event_reasons.active"


def take_monitors(sheet: Sheet) -> Seen:
    """Takes the rows from the sheet; a head may come again among them."""
    seen = Seen()
    columns: list[str] = []
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i) or not line.strip():
            continue
        if _HEAD.fullmatch(line):
            columns = line.replace("#", " ").lower().split()
        elif columns and (cells := _cells(columns, line)):
            _read(cells, line.strip(), seen)
        elif not columns or not _UNITS.fullmatch(line):
            columns = []
            continue
        sheet.take([i])
    return seen


def _cells(columns: list[str], line: str) -> Row:
    """The cells of a row by column; none where the line is no row. A command may hold spaces."""
    words = line.split(None, len(columns) - 1 if columns[-1] == "command" else -1)
    if len(words) != len(columns):
        return {}
    cells = {column: word.strip() for column, word in zip(columns, words, strict=True)}
    values = (cell for column, cell in cells.items() if column not in ("command", "type", "date", "time"))
    return cells if all(re.fullmatch(r"-|\d+", value) for value in values) else {}


def _read(cells: Row, line: str, seen: Seen) -> None:
    if "pid" in cells:
        if cells["pid"] != "-":
            seen.processes.append(process(cells["gpu"], cells["pid"], cells.get("command", ""), cells.get("fb", "")))
        return
    row = {name: cells[column] for column, name in _COLUMNS.items() if cells.get(column, "-") != "-"}
    if (at := _time(cells)) is not None:
        row["timestamp"] = at
    if (held := _held(cells)) is not None:
        row[_REASONS] = held
    seen.rows.append(row | {PASTED: line})


def _time(cells: Row) -> str | None:
    date = re.fullmatch(r"(\d{4})(\d\d)(\d\d)", cells.get("date", ""))
    return f"{'-'.join(date.groups())}T{cells['time']}" if date and "time" in cells else None


def _held(cells: Row) -> str | None:
    """What held the clocks: the share of time under the power cap, and whether heat did."""
    told = [cells[column] for column in ("pviol", "tviol") if cells.get(column, "-") != "-"]
    if not told:
        return None
    reasons = (("pviol", "SW Power Cap"), ("tviol", "SW Thermal Slowdown"))
    return " ".join(word for column, word in reasons if int(cells.get(column, "0").replace("-", "0"))) or "Not Active"
