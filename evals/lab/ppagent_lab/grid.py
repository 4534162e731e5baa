"""Measures the table that the pipeline model is validated against: known stages, many loads and limits.

Each server is started once; its limit is changed on the running server. The host's own time, to launch a forward and
around it, is measured with one client, where the number of forwards is known: one for each token and each prompt.
"""

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2 as httpx

from ppagent_lab.load import THINK_SPREAD, clients, start_spread_s
from ppagent_lab.rows import Window, spread_of, tokens_in, tokens_per_s
from ppagent_lab.server import Server, serving
from ppagent_lab.shapes import Answer, Arrival, Case, Device, Load

LAUNCH = ("run_batch",)
EACH_FORWARD = ("get_next_batch_to_run", "process_batch_result")
EACH_PASS = ("recv_requests", "process_input_requests")
"""Where a scheduler's own time goes (`sglang:scheduler_stage_seconds_total`, 0.5.23); `other` holds its waiting. Only
the first stage's is read: the others wait for the one before them in `recv_requests`."""
IDLE_S = 3.0
WARM_TURNS, MEASURED_TURNS = 8, 30
LEAST_WARM_S, LEAST_MEASURED_S = 8.0, 20.0
_NO_ANSWER = Answer(verdict="healthy", note="")


@dataclass(frozen=True)
class Point:
    """One load under one slot limit (None: the default)."""

    limit: int | None
    concurrency: int
    arrival: Arrival = "trickle"


@dataclass(frozen=True)
class Grid:
    """One server and the points measured on it; those without a limit come first."""

    name: str
    pp: int
    device: Device
    points: tuple[Point, ...]
    depth: int = 0

    def ring_s(self, concurrency: int) -> float:
        """One token's way through all stages with every request in one slot, in seconds."""
        base, extra = (_each(values, self.pp) for values in (self.device.stage_ms, self.device.per_request_ms))
        return (sum(base) + concurrency * sum(extra)) / 1000


def _points(limit: int | None, arrival: Arrival, *loads: int) -> tuple[Point, ...]:
    return tuple(Point(limit, load, arrival) for load in loads)


FOUR = Device(stage_ms=(60,), per_request_ms=(6,))
EIGHT = Device(stage_ms=(100,), per_request_ms=(8,))
GRIDS = (
    Grid(
        "pp4",
        4,
        FOUR,
        (
            *_points(None, "trickle", 1, 4, 8, 16, 32),
            *_points(None, "burst", 8),
            *_points(8, "trickle", 32),
            *_points(4, "trickle", 16),
            *_points(2, "trickle", 8, 16),
            *_points(1, "trickle", 4, 8),
        ),
    ),
    Grid(
        "pp4-depth1",
        4,
        FOUR,
        (*_points(None, "trickle", 1, 8), *_points(2, "trickle", 10), *_points(1, "trickle", 5)),
        depth=1,
    ),
    Grid(
        "pp4-depth2",
        4,
        FOUR,
        (*_points(None, "trickle", 1, 8), *_points(2, "trickle", 8, 12), *_points(1, "trickle", 6)),
        depth=2,
    ),
    Grid(
        "pp4-uneven",
        4,
        replace(FOUR, stage_ms=(40, 40, 100, 40)),
        (
            *_points(None, "trickle", 1, 8),
            *_points(None, "burst", 8),
            *_points(4, "trickle", 16),
            *_points(2, "trickle", 8),
            Point(1, 8),
        ),
    ),
    Grid("pp4-bursts", 4, FOUR, (Point(None, 1), *_points(None, "burst", 4, 16, 32), Point(2, 8, "burst"))),
    Grid(
        "pp8",
        8,
        EIGHT,
        (
            *_points(None, "trickle", 1, 8, 16, 32),
            *_points(None, "burst", 8),
            *_points(4, "trickle", 32),
            *_points(2, "trickle", 16),
            *_points(1, "trickle", 8, 16),
        ),
    ),
    Grid("pp8-depth1", 8, EIGHT, (*_points(None, "trickle", 1, 8), *_points(1, "trickle", 9)), depth=1),
    Grid(
        "pp8-slow-last",
        8,
        replace(EIGHT, stage_ms=(80, 80, 80, 80, 80, 80, 80, 200)),
        (*_points(None, "trickle", 1, 8), *_points(2, "trickle", 16), *_points(1, "trickle", 8)),
    ),
)


def measure(grid: Grid, lab: Path, port: int) -> Iterator[dict[str, object]]:
    """A row for each point, in the fields of `ppagent/model/validation.py`. Raises UserError with the server."""
    depth = ("--pp-async-batch-depth", str(grid.depth)) if grid.depth else ()
    case = Case(grid.name, "", "", grid.pp, None, _NO_ANSWER, device=grid.device, arguments=depth)
    with (
        tempfile.TemporaryDirectory(prefix="lab-") as scratch,
        serving(case, lab, port, Path(scratch) / "server.log") as server,
    ):
        host: dict[str, object] = {}
        limit = None
        _once(server, grid, Point(None, 2), 8.0, 4.0)
        for point in grid.points:
            if point.limit != limit and point.limit is not None:
                server.set_slot_limit(point.limit)
            limit = point.limit
            before = _host_seconds(server)
            row, forwards = _row(server, grid, point)
            if point.concurrency == 1:
                host = _host_ms(before, _host_seconds(server), forwards, grid.pp + grid.depth)
            yield row | host


def _row(server: Server, grid: Grid, point: Point) -> tuple[dict[str, object], int]:
    turn_s = grid.ring_s(point.concurrency) if point.limit is None else grid.ring_s(point.limit)
    load = _load(point)
    warm_s = max(LEAST_WARM_S, WARM_TURNS * turn_s) + start_spread_s(load)
    seconds = max(LEAST_MEASURED_S, MEASURED_TURNS * turn_s)
    rate, low, high, forwards = _once(server, grid, point, warm_s, seconds)
    return {
        "server": grid.name,
        "pp": grid.pp,
        "stage_ms": _each(grid.device.stage_ms, grid.pp),
        "stage_ms_per_req": _each(grid.device.per_request_ms, grid.pp),
        "stage_ms_per_tok": grid.device.per_token_ms[0],
        "hop_ms": grid.device.hop_ms,
        "limit": point.limit,
        "depth": grid.depth,
        "concurrency": point.concurrency,
        "arrival": point.arrival,
        "think_s": load.think_s,
        "think_spread": THINK_SPREAD if point.arrival == "trickle" else 0.0,
        "input_len": sum(load.input_tokens) // 2,
        "output_lens": load.output_tokens,
        "start_spread_s": round(start_spread_s(load), 2),
        "warm_up_s": round(warm_s, 1),
        "seconds": round(seconds, 1),
        "measured_tok_s": round(rate, 2),
        "measured_tok_s_low": round(low, 2),
        "measured_tok_s_high": round(high, 2),
    }, forwards


def _once(server: Server, grid: Grid, point: Point, warm_s: float, seconds: float) -> tuple[float, float, float, int]:
    """Rate over the window with its lowest and highest quarter in tok/s, and all forwards of one client's run."""
    with clients(server.url, _load(point)) as running:
        assert running is not None
        time.sleep(warm_s)
        start = time.monotonic()
        time.sleep(seconds)
        window = Window(start, time.monotonic())
        requests = list(running.requests)
    time.sleep(IDLE_S)
    low, high = spread_of(requests, window)
    forwards = tokens_in(requests, Window(0, window.end))
    return tokens_per_s(requests, window), low, high, forwards


def _load(point: Point) -> Load:
    return Load(clients=point.concurrency, arrival=point.arrival, think_s=0.2)


def _host_seconds(server: Server) -> dict[str, float]:
    """Seconds since the start that the first stage's scheduler spent on each kind of work."""
    text = httpx.get(f"{server.url}/metrics", timeout=60).text
    lines = re.findall(r"^sglang:scheduler_stage_seconds_total\{(.*?)\} (\S+)$", text, re.MULTILINE)
    return {
        re.findall(r'category="(\w+)"', labels)[0]: float(value) for labels, value in lines if 'pp_rank="0"' in labels
    }


def _host_ms(before: Mapping[str, float], after: Mapping[str, float], forwards: int, slots: int) -> dict[str, object]:
    """The launch of a forward and the work around it, in ms: with one client, one pass of a round in `slots` forwards
    something, and each takes in requests."""

    def spent_ms(kinds: Sequence[str]) -> float:
        return 1000 * sum(after[kind] - before[kind] for kind in kinds) / forwards

    around_ms = spent_ms(EACH_FORWARD) + spent_ms(EACH_PASS) / slots
    return {"host_ms": round(spent_ms(LAUNCH), 2), "around_ms": round(around_ms, 2)}


def _each(values: tuple[float, ...], stages: int) -> list[float]:
    return [values[min(stage, len(values) - 1)] for stage in range(stages)]


def append(rows: Iterator[dict[str, object]], path: Path) -> None:
    """Row by row, so that what was measured is kept whatever comes next."""
    for row in rows:
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        print({name: row[name] for name in ("server", "limit", "concurrency", "arrival", "measured_tok_s")}, flush=True)
