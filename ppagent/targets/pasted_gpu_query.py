"""Rows of `nvidia-smi --query-gpu ... --format=csv` and of `--query-compute-apps`, in pasted text."""

import re
from dataclasses import dataclass, field

from ppagent.targets.pasted_gpu_rows import PASTED, Row, Seen, bare
from ppagent.targets.pasted_sheet import Sheet

_QUERY = re.compile(r"--query-(gpu|compute-apps)[= ][\"']?([\w.]+(?:, ?[\w.]+)*)")
_COLUMN = re.compile(r"\s*[A-Za-z_]\w*(?:\.\w+)*(?:\s*\[[^\]]*\])?\s*")
_TELLING = re.compile(
    r"(?:utilization|power|clocks|temperature|memory|pcie|clocks_\w+_reasons|fan|ecc|enforced|mig)\.\w.*"
    r"|used_gpu_memory|used_memory"
)
_NAMES = frozenset(("index", "name", "gpu_name", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "pstate", "pid"))
_WORDS = frozenset(("name", "gpu_name", "process_name", "timestamp", "driver_version", "vbios_version", "serial"))
"""Columns whose cells may be any text."""
_CELL = re.compile(
    r"\s*(?:-?[\d.]+\s*(?:%|[A-Za-z]+(?:/s)?)?|\[[\w /]+\]|N/A|ERR!|0x[0-9A-Fa-f]+|(?:GPU|MIG)-[\w-]+|P\d+|\w+abled"
    r"|(?:Not )?Active|Yes|No|[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:\S+)?\s*"
)
_PROCESS_COLUMNS = {"process_name": "name", "used_gpu_memory": "used_memory_mib", "used_memory": "used_memory_mib"}


@dataclass
class _Block:
    """One header and the rows under it."""

    header: str
    rows: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return [bare(column) for column in self.header.split(",")]

    @property
    def of_processes(self) -> bool:
        return "pid" in self.columns

    def holds(self, line: str) -> bool:
        """Whether a line can be a row: as many cells, each of the kind that nvidia-smi writes there."""
        cells = line.split(",")
        pairs = zip(self.columns, cells, strict=False)
        return len(cells) == len(self.columns) and all(c in _WORDS or _CELL.fullmatch(cell) for c, cell in pairs)


def take_queries(sheet: Sheet) -> list[Seen]:
    """Takes the rows from the sheet, query by query. The header may be the query itself."""
    blocks: list[_Block] = []
    open_block = False
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i) or not line.strip():
            continue
        if asked := _QUERY.search(line):
            blocks.append(_Block(asked[2].replace(" ", "")))
        elif _is_header(line):
            blocks += [] if open_block and line.strip() == blocks[-1].header else [_Block(line.strip())]
        elif open_block and blocks[-1].holds(line):
            blocks[-1].rows.append(line.strip())
        else:
            open_block = False
            continue
        open_block = True
        sheet.take([i])
    return [_seen(block) for block in blocks if block.rows]


def _is_header(line: str) -> bool:
    cells = line.split(",")
    if len(cells) < 2 or not all(map(_COLUMN.fullmatch, cells)):
        return False
    names = {bare(cell) for cell in cells}
    return any(map(_TELLING.fullmatch, names)) or len(names & _NAMES) > 1


def _seen(block: _Block) -> Seen:
    if block.of_processes:
        return Seen(processes=[_process(block.columns, row) for row in block.rows])
    verbatim = "\n".join((block.header, *block.rows, ""))
    return Seen(rows=[_row(block.columns, row) for row in block.rows], verbatim=verbatim)


def _row(columns: list[str], line: str) -> Row:
    return dict(zip(columns, _cells(line), strict=True)) | {PASTED: line}


def _process(columns: list[str], line: str) -> Row:
    named = (_PROCESS_COLUMNS.get(column, column) for column in columns)
    return dict(zip(named, _cells(line), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]
