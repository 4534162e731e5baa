"""Results as a table for a terminal."""

from collections.abc import Mapping, Sequence

COLUMNS = (
    ("C", 5),
    ("think s", 8),
    ("tok/s", 8),
    ("steady", 8),
    ("+/-", 6),
    ("TTFT p50", 9),
    ("p99 ms", 8),
    ("ITL p50", 9),
    ("p99 ms", 8),
    ("TPOT", 8),
    ("E2E p50 s", 11),
    ("in flight", 13),
    ("slot", 5),
    ("failed", 7),
)
LEGEND = (
    "tok/s: all tokens over the whole level. steady: while at least 9 of 10 clients were at work.",
    "TPOT: (t_last - t_first) / (tokens - 1), mean, ms. in flight: seen by the client / by the server.",
    "slot: requests of one micro-batch as the server tells it (median).",
)
OF_BENCH_SERVING = (
    "bench_serving: TTFT is to the first token with text (half a character has none), its connection included."
)


def header() -> str:
    """The names of the columns."""
    return "".join(f"{name:>{width}}" for name, width in COLUMNS)


def line_of(row: Mapping[str, object]) -> str:
    """One level."""
    cells = (
        _load(row),
        _number(row.get("think_time_s"), 3),
        _number(row.get("output_throughput"), 4),
        _number(row.get("steady_output_throughput"), 4),
        _percent(row.get("steady_error_share")),
        _number(row.get("median_ttft_ms"), 4),
        _number(row.get("p99_ttft_ms"), 4),
        _number(row.get("median_itl_ms"), 4),
        _number(row.get("p99_itl_ms"), 4),
        _number(row.get("mean_tpot_ms"), 4),
        _number(row.get("median_e2e_latency_ms"), 3, 0.001),
        f"{_number(row.get('concurrency'), 3)}/{_number(row.get('server_in_flight'), 3)}",
        _number(row.get("server_slot_running_p50"), 3),
        _number(row.get("failed"), 4),
    )
    return "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, COLUMNS, strict=True))


def table_of(rows: Sequence[Mapping[str, object]]) -> str:
    """All levels with their remarks and what the columns mean."""
    lines = [header()]
    for row in rows:
        lines.append(line_of(row))
        remarks = row.get("warnings")
        lines += [f"      ! {remark}" for remark in remarks] if isinstance(remarks, list) else []
    theirs = [OF_BENCH_SERVING] if any(row.get("tool") == "bench_serving" for row in rows) else []
    return "\n".join([*lines, "", *LEGEND, *theirs])


def _load(row: Mapping[str, object]) -> str:
    asked = row.get("max_concurrency")
    return str(asked) if asked is not None else f"{row.get('request_rate')}/s"


def _number(value: object, digits: int, scale: float = 1.0) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-"
    scaled = value * scale
    return f"{scaled:.0f}" if abs(scaled) >= 10 ** (digits - 1) else f"{scaled:.{digits}g}"


def _percent(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, int | float) else "-"
