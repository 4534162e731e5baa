"""Rows about cards out of pasted text, whichever command of nvidia-smi printed them."""

import re
from dataclasses import dataclass, field

Row = dict[str, str]
"""Cells by the column names of `nvidia-smi --query-gpu`, or of gpu_processes.csv."""

PASTED = "pasted"
"""The column that holds the row as the user has it, for quoting."""


@dataclass
class Seen:
    """What one command printed: samples of cards, processes on them."""

    rows: list[Row] = field(default_factory=list)
    processes: list[Row] = field(default_factory=list)
    verbatim: str = ""
    """The samples as they stand where that is CSV already."""

    def by_index(self) -> dict[str, Row]:
        """The last row of each card; without a column of indices, rows are counted."""
        return {row.get("index") or str(place): row for place, row in enumerate(self.rows)}


def bare(column: str) -> str:
    """`power.draw [W]` as `power.draw`."""
    return re.sub(r"\s*\[[^\]]*\]", "", column).strip()


def process(index: str, pid: str, name: str, held_mib: str) -> Row:
    """A row of gpu_processes.csv; memory that is no number is not known."""
    return {"index": index, "pid": pid, "name": name, "used_memory_mib": held_mib if held_mib.isdecimal() else ""}
