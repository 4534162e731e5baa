"""Who uses the cards besides the server."""

import re
from collections.abc import Mapping

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.gpu_rows import read_samples
from ppagent_tools.gpu_sample import Sample
from ppagent_tools.processes import read_processes, server_processes
from ppagent_tools.reading import CsvRow, Document, csv_rows, document, number

_COLUMNS = {
    "process_name": "name",
    "used_gpu_memory": "used_memory_mib",
    "used_memory": "used_memory_mib",
    "gpu": "index",
    "gpu_index": "index",
}
_OWN_NAME = re.compile(r"(?:^|/)(?:python[\d.]*|sglang)\b|sglang::|ray::|\[[\w ]+\]", re.IGNORECASE)
_UNKNOWN = re.compile(r"\[[\w ]+\]|-?")
"""What stands for the name of a process that nvidia-smi cannot look up, as in a container."""
_TITLED = re.compile(r"sglang|\[[\w ]+\]", re.IGNORECASE)
"""Where the server's processes carry the titles that SGLang gives them, another Python is somebody else's."""


def process_findings(context: ToolContext, host: str) -> list[Finding]:
    """Who is on the cards: others than the server, and the server's ranks where rows name them."""
    found = document(context, host, Artifact.GPU_PROCESSES)
    if len(found.text.strip().splitlines()) == 1 and "pid" in found.text:
        return [found.finding({"gpu.foreign_processes": []}, found.text.strip())]
    rows = csv_rows(found, _column)
    indices, own = card_indices(context, host), _own_pids(context, host)
    findings = _foreign(found, rows, own, indices) + _ranks(found, _server_rows(rows, own), indices)
    if not findings:
        raise NotRecorded(f"{found.place}: whose processes these are is hidden, as a container hides them")
    return findings


def server_cards(context: ToolContext, host: str) -> frozenset[int]:
    """Indices of the cards on which the server's own processes are seen; empty where none is."""
    try:
        rows = csv_rows(document(context, host, Artifact.GPU_PROCESSES), _column)
    except ToolError:  # said where the processes are asked for
        return frozenset()
    own, indices = _own_pids(context, host), card_indices(context, host)
    return frozenset(int(index) for index in _on(_server_rows(rows, own), indices) if index.isdecimal())


def _server_rows(rows: list[CsvRow], own: frozenset[int]) -> list[CsvRow]:
    by_pid = any(_pid(row) in own for row in rows)
    return [row for row in rows if (_pid(row) in own if by_pid else "sglang::" in _name(row))]


def _on(rows: list[CsvRow], indices: Mapping[str, str]) -> set[str]:
    return {index for row in rows if (index := _index(row, indices))}


def _foreign(found: Document, rows: list[CsvRow], own: frozenset[int], indices: Mapping[str, str]) -> list[Finding]:
    """Processes on the cards that are not the server's: by process id where any of them is known on the host (a
    container may number them otherwise), else by name; nothing where no name tells either. What runs on cards that the
    server is not on does not matter to it."""
    by_pid = any(_pid(row) in own for row in rows)
    if not by_pid and all(_UNKNOWN.fullmatch(_name(row)) for row in rows):
        return []
    is_own = _TITLED if any("sglang::" in _name(row) for row in rows) else _OWN_NAME
    foreign = [row for row in rows if (_pid(row) not in own if by_pid else not is_own.search(_name(row)))]
    on = _on(_server_rows(rows, own), indices)
    foreign = [row for row in foreign if not on or _index(row, indices) in on | {""}]
    shown = foreign[0] if foreign else rows[0]
    return [found.finding({"gpu.foreign_processes": [_described(row, indices) for row in foreign]}, shown.line)]


def _ranks(found: Document, rows: list[CsvRow], indices: Mapping[str, str]) -> list[Finding]:
    """Ranks by card, out of the titles that SGLang gives its schedulers (`sglang::scheduler_PP0_TP1`)."""
    ranks: dict[str, FactValue] = {}
    shown = ""
    for row in rows:
        match = re.search(r"sglang::scheduler_([A-Z]+\d+\w*)", _name(row))
        index = _index(row, indices)
        if match is not None and index:
            ranks[index] = match[1].replace("_", " ")
            shown = shown or row.line
    return [found.finding({"gpu.ranks": ranks}, shown)] if ranks else []


def _index(row: CsvRow, indices: Mapping[str, str]) -> str:
    """The card's index; found by its UUID or bus where the rows name that."""
    cells = row.cells
    keys = (cells.get(column, "").lower() for column in ("gpu_uuid", "gpu_bus_id"))
    return cells.get("index") or next((indices[key] for key in keys if key in indices), "")


def card_indices(context: ToolContext, host: str) -> dict[str, str]:
    """Indices of the cards by UUID and by bus, as far as samples of them are there and tell."""
    cards = [(sample.index, sample.row.cells) for sample in first_moment(context, host)]
    keys = ((index, cells.get(column, "")) for index, cells in cards for column in ("uuid", "pci.bus_id"))
    return {key.lower(): index for index, key in keys if key}


def first_moment(context: ToolContext, host: str) -> list[Sample]:
    """Every card once, as it was sampled first; none where there are no samples."""
    try:
        return read_samples(document(context, host, Artifact.GPUS))[0]
    except ToolError:  # said where the samples are asked for
        return []


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


def _described(row: CsvRow, indices: Mapping[str, str]) -> FactValue:
    described: dict[str, FactValue] = {
        "index": _index(row, indices) or None,
        "pid": _pid(row),
        "name": _name(row),
        "used_memory_mib": number(row.cells.get("used_memory_mib")),
    }
    return {key: value for key, value in described.items() if value is not None}
