"""Benchmark results in pasted text: the table that `sglang.bench_serving` prints, or lines of its output file."""

import json
import re

from ppagent.targets.pasted_sheet import Sheet

_START = re.compile(r"\s*=+\s*Serving Benchmark Result\s*=+")
_END = re.compile(r"\s*={10,}\s*$")
_ROW = re.compile(r"\s*(?P<key>[A-Za-z][^:]*?):\s+(?P<value>\S+)\s*$")
_STATISTIC = re.compile(r"(?P<kind>mean|median|max|p\d+) (?P<what>e2e latency|ttft|tpot|itl) \(ms\)", re.IGNORECASE)
_FIELDS = {
    "traffic request rate": "request_rate",
    "request rate configured (rps)": "request_rate",
    "max request concurrency": "max_concurrency",
    "maximum request concurrency": "max_concurrency",
    "successful requests": "completed",
    "failed requests": "failed",
    "benchmark duration (s)": "duration",
    "total input tokens": "total_input_tokens",
    "total generated tokens": "total_output_tokens",
    "request throughput (req/s)": "request_throughput",
    "input token throughput (tok/s)": "input_throughput",
    "output token throughput (tok/s)": "output_throughput",
    "total token throughput (tok/s)": "total_throughput",
    "concurrency": "concurrency",
    "accept length": "accept_length",
}
"""Rows of the table, in lower case, and the names the output file has for them."""


def take_bench_tables(sheet: Sheet) -> list[str]:
    """One line of bench.jsonl for every result table on the sheet, with the row it should be quoted by."""
    found: list[str] = []
    i = 0
    while i < len(sheet.lines):
        if not sheet.is_free(i) or not _START.match(sheet.lines[i]):
            i += 1
            continue
        end = i + 1
        while end < len(sheet.lines) and not _END.match(sheet.lines[end]) and not _START.match(sheet.lines[end]):
            end += 1
        closed = end < len(sheet.lines) and _END.match(sheet.lines[end])
        found.append(json.dumps(_read_table(sheet.take(range(i, end + (1 if closed else 0))))))
        i = end
    return found


def is_bench_result(value: dict[str, object]) -> bool:
    """Whether a JSON object is a benchmark's result."""
    return "output_throughput" in value and bool(value.keys() & {"max_concurrency", "completed", "duration"})


def _read_table(lines: list[str]) -> dict[str, float | str]:
    result: dict[str, float | str] = {}
    for line in lines:
        row = _ROW.match(line)
        name = _field(row["key"].lower()) if row else None
        if row is None or name is None:
            continue
        if name == "output_throughput":
            result["pasted"] = line.strip()
        number = _number(row["value"])
        if number is not None:
            result[name] = number
        elif name == "request_rate":
            result[name] = row["value"]
    return result


def _field(key: str) -> str | None:
    if statistic := _STATISTIC.fullmatch(key):
        what = statistic["what"].lower().replace(" ", "_")
        return f"{statistic['kind'].lower()}_{what}_ms"
    return _FIELDS.get(key)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) != float("inf") else None
