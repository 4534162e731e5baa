"""Samples of nvidia-smi queries as numbers: rows by GPU, and the moments they belong to."""

import re
from collections.abc import Iterable, Sequence
from statistics import fmean

from ppagent.evidence.digits import whole_number
from ppagent_tools.gpu_sample import Sample, time_of
from ppagent_tools.reading import CsvRow, Document, csv_rows

_LONGER = {
    "clocks.current.sm": "clocks.sm", "clocks.current.graphics": "clocks.gr", "clocks.max.graphics": "clocks.max.gr",
    "gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id",
}  # fmt: skip
_SAME_MOMENT_S = 0.5
_TELLING = frozenset(
    (
        "index",
        "name",
        "uuid",
        "pci.bus_id",
        "utilization.gpu",
        "power.draw",
        "memory.used",
        "temperature.gpu",
        "clocks.sm",
    )
)


def read_samples(found: Document) -> list[list[Sample]]:
    """The samples, moment by moment: a new one begins where an index comes again."""
    moments: list[list[Sample]] = []
    seen: set[str] = set()
    rows = csv_rows(found, _plain)
    if not _TELLING & set(rows[0].cells):
        raise found.error("no column of nvidia-smi is in its header (index, name, utilization.gpu, power.draw ...)", 1)
    for place, row in enumerate(rows):
        index = whole_number(row.cells.get("index", "") or _index_of(row, place, moments))
        if index is None:
            raise found.error(f"{row.cells.get('index', '')[:40]!r} is no GPU index", row.number)
        sample = Sample(str(index), row)
        if not moments or sample.index in seen:
            moments.append([])
            seen = set()
        seen.add(sample.index)
        moments[-1].append(sample)
    return moments


def at_work(moments: Sequence[Sequence[Sample]]) -> list[Sample]:
    """The samples of the moments in which a card works; all samples where none does."""
    busy = [sample for moment in moments if any(s.busy for s in moment) for sample in moment]
    return busy or [sample for moment in moments for sample in moment]


def window_s(samples: Iterable[Sample]) -> float | None:
    """Seconds from the first to the last time stamp."""
    times = [sample.time for sample in samples if sample.time is not None]
    return (max(times) - min(times)).total_seconds() if times else None


def by_gpu(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.index, []).append(sample)
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


def mean(values: Iterable[float]) -> float:
    return round(fmean(values), 2)


def _plain(name: str) -> str:
    """`power.draw [W]` as `power.draw`; names that a header spells out as the query has them."""
    bare = re.sub(r"\s*\[[^\]]*\]", "", name).strip().lower()
    return _LONGER.get(bare, bare)


def _index_of(row: CsvRow, place: int, moments: Sequence[Sequence[Sample]]) -> str:
    """Without a column of indices, cards are counted by their bus, by the order of the rows of one moment where these
    carry their time, else by the order of all rows."""
    key = row.cells.get("uuid") or row.cells.get("pci.bus_id") or ""
    if key:
        own = (
            s for moment in moments for s in moment if key in (s.row.cells.get("uuid"), s.row.cells.get("pci.bus_id"))
        )
        known = next(own, None)
        return known.index if known is not None else str(place)
    time, began = time_of(row.cells.get("timestamp", "")), moments[-1][0].time if moments else None
    if time is None or began is None:
        return str(place)
    return str(len(moments[-1])) if abs((time - began).total_seconds()) < _SAME_MOMENT_S else "0"
