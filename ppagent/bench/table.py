"""Results as tables for a terminal: what the server gave, and how long its clients waited."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ppagent.report.lines import wrapped
from ppagent.report.room import columns

Row = Mapping[str, object]
Column = tuple[str, int, Callable[[Row], str]]
"""Its name, its width, and a level's figure."""

LEGEND = (
    "tok/s: all tokens over the whole level. steady: while at least 9 of 10 clients were at work.",
    "in flight: requests under way, as the client / the server counts them.",
    "TTFT: to the first token. ITL: between two tokens. TPOT: (t_last - t_first) / (tokens - 1), mean. All in ms.",
    "slot: requests of one micro-batch as the server tells it (median).",
)
OF_BENCH_SERVING = (
    "bench_serving: TTFT is to the first token with text (half a character has none), its connection included."
)


def table_of(rows: Sequence[Row]) -> str:
    """All levels with their remarks and what the columns mean, in the columns there are."""
    theirs = [OF_BENCH_SERVING] if any(row.get("tool") == "bench_serving" for row in rows) else []
    legend = [line.text for each in (*LEGEND, *theirs) for line in wrapped(each, columns())]
    return "\n".join([*_table(SPEED, rows), *_remarks(rows), "", *_table(WAITS, rows), "", *legend])


def _table(shown: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    wanted = (*LOAD, *shown)
    yield "".join(f"{name:>{width}}" for name, width, _ in wanted)
    for row in rows:
        yield "".join(f"{figure(row):>{width}}" for _, width, figure in wanted)


def _remarks(rows: Sequence[Row]) -> Iterator[str]:
    """What bends a level's figures, under the level's name; the same of several levels is said once."""
    of: dict[str, list[str]] = {}
    for row in rows:
        remarks = row.get("warnings")
        for remark in remarks if isinstance(remarks, list) else ():
            of.setdefault(str(remark), []).append(_name(row))
    for remark, levels in of.items():
        yield from (line.text for line in wrapped(f"{', '.join(levels)}: {remark}", columns(), "  ! "))


def _name(row: Row) -> str:
    """The level as its first two columns have it."""
    think = _number(row.get("think_time_s"), 3)
    load = f"C={_load(row)}" if row.get("max_concurrency") is not None else _load(row)
    return load if think in ("-", "0") else f"{load} think {think} s"


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


def _figure(key: str, digits: int, scale: float = 1.0) -> Callable[[Row], str]:
    return lambda row: _number(row.get(key), digits, scale)


def _in_flight(row: Row) -> str:
    return f"{_number(row.get('concurrency'), 3)}/{_number(row.get('server_in_flight'), 3)}"


LOAD: tuple[Column, ...] = (("C", 5, _load), ("think s", 8, _figure("think_time_s", 3)))
SPEED: tuple[Column, ...] = (
    ("tok/s", 8, _figure("output_throughput", 4)),
    ("steady", 8, _figure("steady_output_throughput", 4)),
    ("+/-", 7, lambda row: _percent(row.get("steady_error_share"))),
    ("in flight", 13, _in_flight),
    ("slot", 6, _figure("server_slot_running_p50", 3)),
    ("failed", 8, _figure("failed", 4)),
)
WAITS: tuple[Column, ...] = (
    ("TTFT p50", 10, _figure("median_ttft_ms", 4)),
    ("p99 ms", 8, _figure("p99_ttft_ms", 4)),
    ("ITL p50", 9, _figure("median_itl_ms", 4)),
    ("p99 ms", 8, _figure("p99_itl_ms", 4)),
    ("TPOT", 8, _figure("mean_tpot_ms", 4)),
    ("E2E p50 s", 11, _figure("median_e2e_latency_ms", 3, 0.001)),
)
