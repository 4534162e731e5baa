"""Rows of measured load levels, read field by field: any of them may be missing or of another kind."""

from collections.abc import Mapping

from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

Row = Mapping[str, FactValue]


def bench_rows(facts: Facts) -> list[Row]:
    """Rows of bench.levels, the highest concurrency first."""
    rows = [row for row in facts.items("bench.levels") if isinstance(row, dict)]
    return sorted(rows, key=lambda row: number(row.get("concurrency")), reverse=True)


def number(value: FactValue) -> float:
    """The value where it is a number, else 0."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
