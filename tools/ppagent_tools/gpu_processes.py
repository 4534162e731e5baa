"""Who uses the cards besides the server."""

import re

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.processes import read_processes, server_processes
from ppagent_tools.reading import CsvRow, Document, csv_rows, document, number

_COLUMNS = {"process_name": "name", "used_gpu_memory": "used_memory_mib", "gpu": "index", "gpu_index": "index"}
_OWN_NAME = re.compile(r"(?:^|/)(?:python[\d.]*|sglang)\b|sglang::|ray::|\[not found\]", re.IGNORECASE)
_TITLED = re.compile(r"sglang|\[not found\]", re.IGNORECASE)
"""Where the server's processes carry the titles that SGLang gives them, another Python is somebody else's."""


def process_findings(context: ToolContext, host: str) -> list[Finding]:
    """Who is on the cards: others than the server, and the server's ranks where rows name them."""
    found = document(context, host, Artifact.GPU_PROCESSES)
    if len(found.text.strip().splitlines()) == 1 and "pid" in found.text:
        return [found.finding({"gpu.foreign_processes": []}, found.text.strip())]
    rows = csv_rows(found, _column)
    return [_foreign(context, host, found, rows), *_ranks(found, rows)]


def _foreign(context: ToolContext, host: str, found: Document, rows: list[CsvRow]) -> Finding:
    """Processes on the cards that are not the server's: by process id where any of them is known on the host (a
    container may number them otherwise), else by name."""
    own = _own_pids(context, host)
    by_pid = any(_pid(row) in own for row in rows)
    is_own = _TITLED if any("sglang::" in _name(row) for row in rows) else _OWN_NAME
    foreign = [row for row in rows if (_pid(row) not in own if by_pid else not is_own.search(_name(row)))]
    shown = foreign[0] if foreign else rows[0]
    return found.finding({"gpu.foreign_processes": [_described(row) for row in foreign]}, shown.line)


def _ranks(found: Document, rows: list[CsvRow]) -> list[Finding]:
    """Ranks by card, out of the titles that SGLang gives its schedulers (`sglang::scheduler_PP0_TP1`)."""
    named = [(row, match) for row in rows if (match := re.search(r"sglang::scheduler_([A-Z]+\d+\w*)", _name(row)))]
    if not named:
        return []
    ranks: dict[str, FactValue] = {row.cells.get("index", ""): match[1].replace("_", " ") for row, match in named}
    return [found.finding({"gpu.ranks": ranks}, named[0][0].line)]


def _own_pids(context: ToolContext, host: str) -> frozenset[int]:
    try:
        _, processes = read_processes(context, host)
    except NotRecorded:
        return frozenset()
    return frozenset(process.pid for process in server_processes(processes))


def _column(name: str) -> str:
    bare = re.sub(r"\s*\[[^\]]*\]", "", name).strip().lower()
    return _COLUMNS.get(bare, bare)


def _pid(row: CsvRow) -> int | None:
    pid = number(row.cells.get("pid"))
    return None if pid is None else int(pid)


def _name(row: CsvRow) -> str:
    return row.cells.get("name", "")


def _described(row: CsvRow) -> FactValue:
    described: dict[str, FactValue] = {
        "index": row.cells.get("index") or None,
        "pid": _pid(row),
        "name": _name(row),
        "used_memory_mib": number(row.cells.get("used_memory_mib")),
    }
    return {key: value for key, value in described.items() if value is not None}
