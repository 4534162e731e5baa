"""What nvidia-smi printed, found in pasted text, in the forms a recording has: samples, processes, the topology."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.targets.pasted_gpu_details import take_details
from ppagent.targets.pasted_gpu_monitor import take_monitors
from ppagent.targets.pasted_gpu_query import take_queries
from ppagent.targets.pasted_gpu_rows import PASTED, Row, Seen
from ppagent.targets.pasted_gpu_table import take_table
from ppagent.targets.pasted_sheet import Sheet
from ppagent.targets.pasted_topology import take_topology

_STANDING = (
    "name", "uuid", "pci.bus_id", "power.limit", "enforced.power.limit", "power.default_limit", "memory.used",
    "memory.total", "clocks.max.sm", "pcie.link.gen.max", "pcie.link.width.max",
)  # fmt: skip
"""Columns that hold for the whole time that rows of another command cover."""
_AROUND = re.compile(
    r"(?:\S*[$#] ?)?nvidia-smi(?: (?:-[\w=.,-]+|topo|dmon|pmon|nvlink|\d+|[pucvmet]{1,7}))*\s*"
    r"|\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}\s*"
)
"""The command that printed it, and the time above the table."""


@dataclass
class GpuParts:
    """Artifacts in the form a recording has them; empty where there is none."""

    gpus: str = ""
    processes: str = ""
    topology: str = ""


def take_gpu_parts(sheet: Sheet) -> GpuParts:
    """Takes everything that nvidia-smi printed from the sheet. Of several samplings the one with most rows is kept,
    with what the others tell of the cards besides."""
    found = [take_details(sheet), take_table(sheet), *take_queries(sheet), take_monitors(sheet)]
    sampled = sorted((seen for seen in found if seen.rows), key=lambda seen: len(seen.rows), reverse=True)
    parts = GpuParts(topology=take_topology(sheet))
    if sampled or parts.topology:
        sheet.take(i for i, line in enumerate(sheet.lines) if sheet.is_free(i) and _AROUND.fullmatch(line))
    if sampled:
        parts.gpus = sampled[0].verbatim if len(sampled) == 1 else ""
        parts.gpus = parts.gpus or _written(_joined(sampled[0], sampled[1:]), last=PASTED)
    processes = max((seen.processes for seen in found), key=len)
    if processes:
        parts.processes = _written(processes)
    return parts


def _joined(main: Seen, others: Sequence[Seen]) -> list[Row]:
    """The rows with what others say of the same card: all of it where each has one moment, else what stands still."""
    told = [seen.by_index() for seen in others]
    one_moment = len(main.by_index()) == len(main.rows)
    joined = []
    for place, row in enumerate(main.rows):
        if row.get("index") == "":  # a card that is told of by its bus alone
            joined.append(row)
            continue
        index = row.get("index") or str(place)
        more: Row = {}
        for seen, rows in zip(others, told, strict=True):
            at_once = one_moment and len(rows) == len(seen.rows)
            known = rows.get(index, {}).items()
            more = {column: cell for column, cell in known if at_once or column in _STANDING} | more
        joined.append({"index": index} | more | row)
    return joined


def _written(rows: Sequence[Row], last: str = "") -> str:
    """As CSV under the union of the columns, the one named `last` at the end."""
    columns = sorted(dict.fromkeys(column for row in rows for column in row), key=lambda column: column == last)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
