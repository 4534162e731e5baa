"""What nvidia-smi prints, found in pasted text: its table, its query rows, its topology matrix."""

import csv
import io
import re
from dataclasses import dataclass, field

from ppagent.targets.pasted_sheet import Sheet

COLUMNS = ("index", "name", "utilization.gpu", "power.draw", "power.limit", "memory.used", "memory.total",
           "temperature.gpu", "pasted")  # fmt: skip
"""Columns of gpus.csv that the table gives; `pasted` is the row as the user has it, for quoting."""

_TABLE_LINE = re.compile(r"\s*[|+].*[|+]\s*$")
_TABLE_HEAD = re.compile(r"\|\s*(?:NVIDIA-SMI\b|GPU\s+Name\b)")
_FIRST_ROW = re.compile(r"\|\s+(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A)\s+\|\s+[0-9A-Fa-f]+:")
_SECOND_ROW = re.compile(r"\|.*?\bP\d+\b.*\|.*MiB\s*/.*\|")
_PROCESS = re.compile(r"\|\s+(\d+)\s+(?:N/A|\d+)\s+(?:N/A|\d+)\s+(\d+)\s+[CGM+]+\s+(\S.*?)\s+(\d+)\s*MiB\s*\|")
_OLD_PROCESS = re.compile(r"\|\s+(\d+)\s+(\d+)\s+[CGM+]+\s+(\S.*?)\s+(\d+)\s*MiB\s*\|")
_QUERY = re.compile(r"--query-gpu[= ]([\w.,]+)")
_QUERY_COLUMN = re.compile(r"\s*[a-z_]+(?:\.[a-z_.]+)?(?:\s*\[[^\]]*\])?\s*")
_TOPOLOGY_HEAD = re.compile(r"\s*GPU0\s+(?:GPU\d+|CPU Affinity|NIC\d+)")
_TOPOLOGY_ROW = re.compile(r"\s*(?:GPU|NIC)\d+\s+\S")
_LEGEND = re.compile(r"\s*(?:Legend:|NIC Legend:|(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s+=|NIC\d+:)")


@dataclass
class GpuParts:
    """Artifacts in the form a recording has them; empty where there is none."""

    gpus: str = ""
    processes: str = ""
    topology: str = ""


@dataclass
class _Table:
    rows: list[dict[str, str]] = field(default_factory=list)
    processes: list[tuple[str, ...]] = field(default_factory=list)


def take_gpu_parts(sheet: Sheet) -> GpuParts:
    """Takes everything that nvidia-smi printed from the sheet."""
    table = _take_table(sheet)
    query = _take_query(sheet)
    parts = GpuParts(topology=_take_topology(sheet))
    if table.rows:
        parts.gpus = _written(COLUMNS, [[row.get(column, "") for column in COLUMNS] for row in table.rows])
    if query:
        parts.gpus = query
    if table.processes:
        parts.processes = _written(("index", "pid", "name", "used_memory_mib"), table.processes)
    return parts


def _take_table(sheet: Sheet) -> _Table:
    table = _Table()
    inside = False
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i) or not _TABLE_LINE.match(line):
            inside = inside and not line.strip() and not table.processes
            continue
        inside = inside or bool(_TABLE_HEAD.search(line)) or _head_follows(sheet, i)
        if inside:
            sheet.take([i])
            _read_table_line(line, table)
    return table


def _head_follows(sheet: Sheet, i: int) -> bool:
    return i + 1 < len(sheet.lines) and bool(_TABLE_HEAD.search(sheet.lines[i + 1]))


def _read_table_line(line: str, table: _Table) -> None:
    if first := _FIRST_ROW.search(line):
        table.rows.append({"index": first["index"], "name": first["name"]})
    elif table.rows and _SECOND_ROW.search(line):
        table.rows[-1].update(_second_row(line))
    elif process := _PROCESS.search(line) or _OLD_PROCESS.search(line):
        table.processes.append(process.groups())


def _second_row(line: str) -> dict[str, str]:
    """Fan, temperature, power, memory and utilisation of the row under a GPU's name."""
    found = {"pasted": line.strip()}
    patterns = {
        r"(\d+)C\b": ("temperature.gpu",),
        r"(\d+)W\s*/": ("power.draw",),
        r"/\s*(\d+)W": ("power.limit",),
        r"(\d+)MiB\s*/\s*(\d+)MiB": ("memory.used", "memory.total"),
        r"\|\s*(\d+)%\s+\S[^|]*\|\s*$": ("utilization.gpu",),
    }
    for pattern, columns in patterns.items():
        if match := re.search(pattern, line):
            found.update(zip(columns, match.groups(), strict=True))
    return found


def _take_query(sheet: Sheet) -> str:
    """Rows of `nvidia-smi --query-gpu ... --format=csv` with their header, which may be the query itself."""
    header = ""
    rows: list[str] = []
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i):
            continue
        if asked := _QUERY.search(line):
            header = header or asked[1]
            sheet.take([i])
        elif _is_query_header(line):
            header = line.strip()
            sheet.take([i])
        elif header and line.count(",") == header.count(",") >= 1 and re.search(r"\d", line):
            rows.append(line.strip())
            sheet.take([i])
    return "\n".join((header, *rows)) + "\n" if rows else ""


def _is_query_header(line: str) -> bool:
    cells = line.split(",")
    return len(cells) > 1 and all(map(_QUERY_COLUMN.fullmatch, cells)) and bool(re.search(r"\.(?:gpu|draw|used)", line))


def _take_topology(sheet: Sheet) -> str:
    start = next((i for i, line in enumerate(sheet.lines) if sheet.is_free(i) and _TOPOLOGY_HEAD.match(line)), None)
    if start is None:
        return ""
    end = start + 1
    while end < len(sheet.lines) and (_TOPOLOGY_ROW.match(sheet.lines[end]) or _LEGEND.match(sheet.lines[end])
                                      or _blank_before_legend(sheet, end)):  # fmt: skip
        end += 1
    return "\n".join(sheet.take(range(start, end))) + "\n"


def _blank_before_legend(sheet: Sheet, i: int) -> bool:
    rest = sheet.lines[i + 1 : i + 3]
    return not sheet.lines[i].strip() and any(_LEGEND.match(line) for line in rest)


def _written(header: tuple[str, ...], rows: list[list[str]] | list[tuple[str, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
