"""The table of a bare `nvidia-smi`, in pasted text: drivers 390 to 610, whole or a part of it."""

import re

from ppagent.targets.pasted_gpu_rows import PASTED, Row, Seen, process
from ppagent.targets.pasted_sheet import Sheet

_LINE = re.compile(r"[\s>#]*[|+].*[|+]\s*$")
_HEAD = re.compile(r"[\s>#]*\|\s*(?:NVIDIA-SMI\b|GPU\s+Name\b)")
_FIRST_ROW = re.compile(
    r"[\s>#]*\|\s+(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A|WDDM|TCC|MCDM)\s+\|\s+(?P<bus>[0-9A-Fa-f]{4,8}:\S+)"
)
_MEMORY = r"(?:(\d+)\s*MiB|N/A)\s*\|"
_PROCESS = re.compile(rf"[\s>#]*\|\s+(\d+)\s+(?:N/A|\d+)\s+(?:N/A|\d+)\s+(\d+)\s+[CGM+]+\s+(\S.*?)\s+{_MEMORY}")
_OLD_PROCESS = re.compile(rf"[\s>#]*\|\s+(\d+)\s+(\d+)\s+[CGM+]+\s+(\S.*?)\s+{_MEMORY}")
_GONE = re.compile(
    r"Unable to determine the device handle for GPU\s*(?:\d+:\s+)?(?P<bus>[0-9A-Fa-f:.]+):\s+(?P<says>\w[\w ]*)"
)
"""What stands in place of the table where a card has fallen off the bus."""


def take_table(sheet: Sheet) -> Seen:
    """Takes the lines of the table from the sheet."""
    seen = Seen()
    inside = named = False
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i) or not _LINE.match(line):
            inside = inside and not line.strip() and not seen.processes
            _take_gone(sheet, i, seen)
            continue
        inside = inside or bool(_HEAD.match(line) or _FIRST_ROW.match(line)) or _head_follows(sheet, i)
        if inside:
            sheet.take([i])
            named = _read_line(line, seen, second=named)
    return seen


def _head_follows(sheet: Sheet, i: int) -> bool:
    return i + 1 < len(sheet.lines) and bool(_HEAD.match(sheet.lines[i + 1]))


def _take_gone(sheet: Sheet, i: int, seen: Seen) -> None:
    if sheet.is_free(i) and (gone := _GONE.search(sheet.lines[i])):
        sheet.take([i])
        line = sheet.lines[i].strip()
        seen.rows.append({"index": "", "name": f"[{gone['says']}]", "pci.bus_id": gone["bus"], PASTED: line})


def _read_line(line: str, seen: Seen, *, second: bool) -> bool:
    """Reads one line; `second` where the one before it named a card. Whether this one does."""
    if first := _FIRST_ROW.match(line):
        seen.rows.append({"index": first["index"], "name": first["name"], "pci.bus_id": first["bus"]})
    elif second:
        seen.rows[-1].update(_second_row(line))
    elif found := _PROCESS.match(line) or _OLD_PROCESS.match(line):
        index, pid, name, held = found.groups()
        seen.processes.append(process(index, pid, name, held or ""))
    return first is not None


def _second_row(line: str) -> Row:
    """Temperature, power, memory and utilisation of the row under a GPU's name; what a card lacks reads N/A, ERR! or
    Not Supported there."""
    cells = line.split("|")
    found = {PASTED: line.strip()}
    patterns = (
        (1, r"(\d+)C\b", ("temperature.gpu",)),
        (1, r"(\d+)W\s*/", ("power.draw",)),
        (1, r"/\s*(\d+)W", ("power.limit",)),
        (2, r"(\d+)MiB\s*/\s*(\d+)MiB", ("memory.used", "memory.total")),
        (3, r"^\s*(\d+)%", ("utilization.gpu",)),
    )
    for place, pattern, columns in patterns:
        if match := re.search(pattern, cells[place] if place < len(cells) else ""):
            found.update(zip(columns, match.groups(), strict=True))
    return found
